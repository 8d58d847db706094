package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// allowance is a known difference with its reason. It stays, or it is open, that is, still to be
// fixed. In its patterns, * matches any text; an empty pattern matches everything.
type allowance struct {
	Where  string `json:"where,omitempty"`
	Path   string `json:"path,omitempty"`
	Ours   string `json:"ours,omitempty"`
	Real   string `json:"real,omitempty"`
	Reason string `json:"reason"`
	Open   bool   `json:"open,omitempty"`

	count    int
	patterns [4]*regexp.Regexp
}

func readAllowances(path string) ([]*allowance, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the allowed differences: %w", err)
	}
	return parseAllowances(text)
}

func parseAllowances(text []byte) ([]*allowance, error) {
	var list []*allowance
	if err := yaml.UnmarshalStrict(text, &list); err != nil {
		return nil, fmt.Errorf("parsing the allowed differences: %w", err)
	}
	for i, a := range list {
		if a.Reason == "" || a.Where+a.Path == "" {
			return nil, fmt.Errorf("allowed difference %d needs a reason, and where or path", i+1)
		}
		for j, pattern := range []string{a.Where, a.Path, a.Ours, a.Real} {
			a.patterns[j] = glob(pattern)
		}
	}
	return list, nil
}

func glob(pattern string) *regexp.Regexp {
	if pattern == "" {
		pattern = "*"
	}
	return regexp.MustCompile(`(?s)^` + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, `.*`) + `$`)
}

func (a *allowance) allows(d difference) bool {
	for i, value := range []string{d.Where, d.Path, d.Ours, d.Real} {
		if !a.patterns[i].MatchString(value) {
			return false
		}
	}
	return true
}

// finding groups all differences with one signature.
type finding struct {
	difference // the first of them
	count      int
}

// findings counts allowed differences, and collects the others.
type findings struct {
	allowances []*allowance
	unlisted   []*finding
	index      map[string]*finding
}

// add adds a difference and reports whether it is allowed.
func (f *findings) add(d difference) bool {
	for _, a := range f.allowances {
		if a.allows(d) {
			a.count++
			return true
		}
	}
	if f.index == nil {
		f.index = map[string]*finding{}
	}
	known := f.index[d.signature()]
	if known == nil {
		known = &finding{difference: d}
		f.index[d.signature()] = known
		f.unlisted = append(f.unlisted, known)
	}
	known.count++
	return false
}
