package regress

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// mostUnrendered is the number of lines that a note lists.
const mostUnrendered = 5

// unrendered returns a note about the changed lines of the templates that no cluster renders: their effect
// does not show. It is empty if there are none.
func (r *runner) unrendered(ctx context.Context) (string, error) {
	head, err := r.unreached(ctx, r.Head, r.changed.head)
	if err != nil {
		return "", err
	}
	base, err := r.unreached(ctx, r.Base, r.changed.base)
	if err != nil {
		return "", err
	}
	var all []string
	for _, site := range head {
		all = append(all, fmt.Sprintf("%s (%s)", site, textAt(r.changed.headText, site)))
	}
	for _, site := range base {
		// If head has lines of this file, those of base are their earlier versions.
		if !slices.ContainsFunc(head, func(h Site) bool { return h.File == site.File }) {
			all = append(all, fmt.Sprintf("%s of base (%s)", site, textAt(r.changed.baseText, site)))
		}
	}
	if len(all) == 0 {
		return "", nil
	}
	listed := strings.Join(all[:min(len(all), mostUnrendered)], ", ")
	if more := len(all) - mostUnrendered; more > 0 {
		listed += fmt.Sprintf(" and %d more", more)
	}
	return "No cluster of the corpus renders these changed lines of the template, so it does not show what they do: " + listed + ".", nil
}

// unreached returns the changed lines of a side's template that no cluster renders.
func (r *runner) unreached(ctx context.Context, side Side, changed map[Site]bool) ([]Site, error) {
	pending := map[Site]bool{}
	for file, text := range side.Template() {
		for _, line := range textLines(text) {
			if site := (Site{file, line}); changed[site] {
				pending[site] = true
			}
		}
	}
	for _, c := range r.Clusters {
		if len(pending) == 0 {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		text, origins, err := side.Trace(c)
		if err != nil {
			continue // it is a failure of the side
		}
		for line := range bytes.Count(text, []byte("\n")) + 1 {
			for _, origin := range origins(line + 1) {
				for _, site := range origin {
					delete(pending, site)
				}
			}
		}
	}
	var all []Site
	for site := range pending {
		all = append(all, site)
	}
	slices.SortFunc(all, func(a, b Site) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line)) })
	return all, nil
}

var (
	commentOfTemplate = regexp.MustCompile(`(?s)\{\{-?\s*/\*.*?\*/\s*-?\}\}`)
	actionOfTemplate  = regexp.MustCompile(`(?s)\{\{.*?\}\}`)
	branch            = regexp.MustCompile(`\{\{-?\s*(else\s+)?(if|with|range)\b`)
)

// textLines returns the numbers of the lines of a template that write directives, or that decide whether
// others do.
func textLines(template string) []int {
	blank := func(found string) string { return strings.Repeat("\n", strings.Count(found, "\n")) }
	code := commentOfTemplate.ReplaceAllStringFunc(template, blank)
	text := strings.Split(actionOfTemplate.ReplaceAllStringFunc(code, blank), "\n")
	var all []int
	for i, line := range strings.Split(code, "\n") {
		written := strings.TrimSpace(text[i])
		if written != "" && !strings.HasPrefix(written, "#") || branch.MatchString(line) {
			all = append(all, i+1)
		}
	}
	return all
}
