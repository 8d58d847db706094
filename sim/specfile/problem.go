package specfile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"windtunnel.dev/internal/suggest"
)

// Problem is one problem of a file.
type Problem struct {
	File string
	Line int    // from 1
	What string // what is wrong
	Mend string // how to fix it
}

// Error returns one line: FILE:LINE: what is wrong; how to fix it.
func (p Problem) Error() string {
	return fmt.Sprintf("%s:%d: %s; %s", p.File, p.Line, oneLine(p.What), oneLine(p.Mend))
}

// Problems collects the problems of one file.
type Problems struct {
	File  string // its name in errors
	Types Types  // the types that the file decodes to
	Found []Problem
}

// Add adds a problem at a line, from 1.
func (p *Problems) Add(line int, what, mend string) {
	p.Found = append(p.Found, Problem{File: p.File, Line: max(line, 1), What: what, Mend: mend})
}

// Err returns the problems joined into one error and sorted by line, or nil if there are none.
func (p *Problems) Err() error {
	slices.SortStableFunc(p.Found, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	all := make([]error, len(p.Found))
	for i, problem := range p.Found {
		all[i] = problem
	}
	return errors.Join(all...)
}

// oneLine replaces control characters, so that text from a file cannot break a message into several
// lines.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
}

// Choose suggests valid words: a similar one, if there is one, and all of them.
func Choose(word, kind string, known []string) string {
	sorted := slices.Sorted(slices.Values(known))
	sorted = slices.DeleteFunc(sorted, func(name string) bool { return name == "" }) // from manifests that did not decode
	if len(sorted) == 0 {
		return "there are no " + kind
	}
	all := fmt.Sprintf("the %s are %s", kind, strings.Join(sorted, ", "))
	if len(sorted) == 1 {
		all = "there is only " + sorted[0]
	}
	if question := suggest.DidYouMean(word, sorted); question != "" {
		return fmt.Sprintf("%s (%s)", question, all)
	}
	return all
}

// Unknown describes a key that is not among those known. It suggests a similar one before mend.
func Unknown(kind, key string, known []string, mend string) (what, mended string) {
	if question := suggest.DidYouMean(key, known); question != "" {
		mend = question + " (" + mend + ")"
	}
	return fmt.Sprintf("unknown %s %s", kind, key), mend
}
