package render

import (
	"regexp"
	"strings"
)

// limitMatch bounds how often PCRE goes back within one match: a million takes
// about 20 ms, PCRE's own ten million 200. nginx answers 500 where a match is given
// up, as it does with PCRE's own limit. (pcre2pattern, "Setting match limits")
const limitMatch = "(*LIMIT_MATCH=1000000)"

// limited is a pattern of an annotation or a path, with that bound where it may be
// needed: a client must not keep a worker busy.
func limited(pattern string) string {
	if goesBack(pattern) {
		return limitMatch + pattern
	}
	return pattern
}

// limitedName is limited of a name for server_name, if that is a pattern.
func limitedName(name string) string {
	if pattern, is := strings.CutPrefix(name, "~"); is {
		return "~" + limited(pattern)
	}
	return name
}

var (
	repeats = regexp.MustCompile(`^(?:[*+?]|\{\d+(?:,\d*)?\})[+?]?`)
	atEnd   = regexp.MustCompile(`^\)*$`)
)

// goesBack tells whether something repeats that more must match behind: only then
// does PCRE try shorter repetitions. An optional group at the end, as in
// /api(/|$)(.*), does not.
func goesBack(pattern string) bool {
	class := false
	for rest := pattern; rest != ""; rest = rest[1:] {
		switch {
		case rest[0] == '\\' && len(rest) > 1:
			rest = rest[1:]
		case class:
			class = rest[0] != ']'
		case rest[0] == '[':
			class = true
			if strings.HasPrefix(rest, "[^]") || strings.HasPrefix(rest, "[]") {
				rest = rest[strings.IndexByte(rest, ']'):]
			}
		case strings.HasPrefix(rest, "(?"):
			rest = rest[1:] // a group's kind, not a repetition
		case repeats.MatchString(rest) && !atEnd.MatchString(rest[len(repeats.FindString(rest)):]):
			return true
		}
	}
	return false
}
