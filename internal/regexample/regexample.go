// Package regexample finds texts that match the regular expressions of ingresses, so that requests can be
// made for them. Its one rule: every example that it returns matches.
package regexample

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
)

// word stands in examples for parts that may be any text.
const word = "windtunnel"

// All returns paths that match a regular expression from the beginning: one that uses everything
// that the expression allows, and a short one, if it differs. It returns none if it finds no
// match, for instance because the expression has a lookahead, which Go does not support.
func All(pattern string) []string {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	compiled, err := regexp.Compile("^(?i:" + pattern + ")")
	if err != nil {
		return nil
	}
	parsed = parsed.Simplify()
	texts := []string{exampleOf(parsed, false), exampleOf(parsed, true)}
	return slices.Compact(slices.DeleteFunc(texts, func(text string) bool { return !compiled.MatchString(text) }))
}

// Of returns the first of the examples; ok is false if there are none.
func Of(pattern string) (text string, ok bool) {
	if all := All(pattern); len(all) > 0 {
		return all[0], true
	}
	return "", false
}

// mostRepeated limits repetitions such as x{1000}.
const mostRepeated = 64

func exampleOf(r *syntax.Regexp, short bool) string {
	switch r.Op {
	case syntax.OpLiteral:
		return string(r.Rune)
	case syntax.OpCharClass:
		return string(runeOf(r.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "w"
	case syntax.OpCapture:
		return exampleOf(r.Sub[0], short)
	case syntax.OpQuest:
		if short {
			return ""
		}
		return exampleOf(r.Sub[0], short)
	case syntax.OpStar, syntax.OpPlus:
		op := r.Sub[0].Op
		switch {
		case short && r.Op == syntax.OpStar:
			return ""
		case op == syntax.OpAnyChar || op == syntax.OpAnyCharNotNL:
			return word
		}
		return exampleOf(r.Sub[0], short)
	case syntax.OpRepeat:
		return strings.Repeat(exampleOf(r.Sub[0], short), min(max(r.Min, 1), mostRepeated))
	case syntax.OpConcat:
		var all strings.Builder
		for _, sub := range r.Sub {
			all.WriteString(exampleOf(sub, short))
		}
		return all.String()
	case syntax.OpAlternate:
		text := exampleOf(r.Sub[0], short)
		for _, sub := range r.Sub[1:] {
			if other := exampleOf(sub, short); short && len(other) < len(text) {
				text = other
			}
		}
		return text
	}
	return "" // an anchor, or nothing
}

// runeOf returns a character of a class, which is a list of ranges. It prefers letters and digits.
func runeOf(class []rune) rune {
	for _, wanted := range "wa0W/-" {
		for i := 0; i+1 < len(class); i += 2 {
			if class[i] <= wanted && wanted <= class[i+1] {
				return wanted
			}
		}
	}
	for i := 0; i+1 < len(class); i += 2 {
		for r := class[i]; r <= class[i+1] && r < 0x7f; r++ {
			if r > ' ' {
				return r
			}
		}
	}
	if len(class) > 0 {
		return class[0]
	}
	return 'w'
}

// Escaped returns a path as clients send it: characters that have another meaning in a URL are
// encoded.
func Escaped(path string) string {
	var all strings.Builder
	for i := range len(path) {
		switch c := path[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("-._~!$&'()*+,;=:@/", c) >= 0:
			all.WriteByte(c)
		default:
			fmt.Fprintf(&all, "%%%02X", c)
		}
	}
	return all.String()
}
