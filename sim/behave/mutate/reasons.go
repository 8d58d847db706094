package mutate

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// anyLine stands for all lines of a file.
const anyLine = "*"

// A Reason says why mutants may survive, or are not reached.
type Reason struct {
	Line int // in its file, from 1
	// File and Was are a file and the text of one of its lines, or * for all lines. The text still
	// matches when lines move. For settings, File is empty, and Was is a pattern of path.Match:
	// config/jaeger-*.
	File, Was string
	// Change is what the mutants do to the line, such as delete or never; empty for all of them.
	Change string
	Text   string
}

// ParseReasons reads reasons, one per line: FILE and a colon and a line of this file (or *), or
// annotation/NAME, config/NAME or flag/NAME, which may have wildcards; then a tab, and the reason. A
// line of a file may be followed by a tab and the value of Reason.Change. name is the name of the file
// with the reasons, for errors.
func ParseReasons(name, text string) ([]Reason, error) {
	var all []Reason
	for i, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		fields := strings.Split(line, "\t")
		r := Reason{Line: i + 1, Was: strings.TrimSpace(fields[0]), Text: strings.TrimSpace(fields[len(fields)-1])}
		if len(fields) == 3 {
			r.Change = strings.TrimSpace(fields[1])
		}
		switch {
		case len(fields) < 2 || r.Was == "" || r.Text == "":
			return nil, fmt.Errorf("%s:%d: want what the reason is about, a tab and the reason", name, r.Line)
		case len(fields) > 3 || len(fields) == 3 && (r.Change == "" || isSetting(r.Was)):
			return nil, fmt.Errorf("%s:%d: want at most FILE:LINE, what the mutant does to the line such as delete, and the reason, with a tab between them", name, r.Line)
		}
		if !isSetting(r.Was) {
			file, was, ok := strings.Cut(r.Was, ":")
			if !ok {
				return nil, fmt.Errorf("%s:%d: %s is neither FILE:LINE, with the text of a line, nor annotation/NAME, config/NAME or flag/NAME", name, r.Line, r.Was)
			}
			r.File, r.Was = file, strings.TrimSpace(was)
		} else if _, err := path.Match(r.Was, ""); err != nil {
			return nil, fmt.Errorf("%s:%d: %s: %w; escape [, ], * and ? that are not wildcards", name, r.Line, r.Was, err)
		}
		all = append(all, r)
	}
	return all, nil
}

// isSetting reports whether a text is the kind and the name of settings.
func isSetting(text string) bool {
	kind, _, ok := strings.Cut(text, "/")
	return ok && (Kind(kind) == Annotation || Kind(kind) == Config || Kind(kind) == Flag)
}

// About reports whether the reason is about a mutant.
func (r Reason) About(m Mutant) bool {
	if r.File != "" || m.File != "" {
		return m.File == r.File && (r.Was == anyLine || strings.TrimSpace(m.Was) == r.Was) && (r.Change == "" || r.Change == m.Change())
	}
	matches, _ := path.Match(r.Was, string(m.Kind)+"/"+m.Was) // ParseReasons has checked the pattern
	return matches
}

// Stale returns the reasons that are about none of the mutants.
func Stale(mutants []Mutant, reasons []Reason) []Reason {
	return slices.DeleteFunc(slices.Clone(reasons), func(r Reason) bool { return slices.ContainsFunc(mutants, r.About) })
}

// ReasonsOf returns the reasons of mutants, by name. The last reason about a mutant counts.
func ReasonsOf(mutants []Mutant, reasons []Reason) map[string]string {
	all := map[string]string{}
	for _, r := range reasons {
		for _, m := range mutants {
			if r.About(m) {
				all[m.Name] = r.Text
			}
		}
	}
	return all
}
