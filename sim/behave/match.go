package behave

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// unmet describes what a condition requires if the texts do not fulfil it; otherwise it returns "".
// There are no texts if a header is absent, and several if it is sent several times.
func (m Match) unmet(texts []string) (want string) {
	one := func(holds func(text string) bool) bool { return slices.ContainsFunc(texts, holds) }
	switch {
	case m.Absent:
		if len(texts) > 0 {
			return "absent"
		}
	case m.Equals != nil && !slices.Equal(texts, []string{*m.Equals}):
		return show([]string{*m.Equals})
	case m.Values != nil && !slices.Equal(texts, m.Values):
		return show(m.Values)
	case m.Contains != "" && !one(func(text string) bool { return strings.Contains(text, m.Contains) }):
		return "text with " + show([]string{m.Contains})
	case m.Lacks != "" && one(func(text string) bool { return strings.Contains(text, m.Lacks) }):
		return "text without " + show([]string{m.Lacks})
	}
	if m.Matches == "" {
		return ""
	}
	pattern, err := regexp.Compile(m.Matches)
	if err != nil {
		return err.Error()
	}
	if !one(pattern.MatchString) {
		return "a match of /" + m.Matches + "/"
	}
	return ""
}

// mostShown is how much of a text a failure shows, in bytes.
const mostShown = 300

// show formats texts for a failure.
func show(texts []string) string {
	if len(texts) == 0 {
		return "absent"
	}
	var shown []string
	for _, text := range texts {
		if len(text) > mostShown {
			shown = append(shown, fmt.Sprintf("%q… (%d bytes)", text[:mostShown], len(text)))
		} else {
			shown = append(shown, strconv.Quote(text))
		}
	}
	return strings.Join(shown, " and ")
}

// unmet describes what a count requires if n does not fulfil it; otherwise it returns "".
func (c Count) unmet(n int) string {
	if (c.Min == nil || n >= *c.Min) && (c.Max == nil || n <= *c.Max) {
		return ""
	}
	switch {
	case c.Max == nil:
		return fmt.Sprintf("%d or more", *c.Min)
	case c.Min == nil || *c.Min == 0 && *c.Max > 0:
		return fmt.Sprintf("%d at most", *c.Max)
	case *c.Min == *c.Max:
		return strconv.Itoa(*c.Min)
	}
	return fmt.Sprintf("%d to %d", *c.Min, *c.Max)
}
