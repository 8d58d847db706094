package render

import (
	"regexp"
	"strings"
)

// limitMatch limits backtracking within one match: a million steps take about 20 ms, PCRE's default
// of ten million about 200 ms. If PCRE gives up, nginx answers 500, as it does at PCRE's default
// limit. (pcre2pattern, "Setting match limits")
const limitMatch = "(*LIMIT_MATCH=1000000)"

// limited adds the limit to a pattern from an annotation or a path if the pattern can backtrack,
// because a client must not keep a worker busy.
func limited(pattern string) string {
	if backtracks(pattern) {
		return limitMatch + pattern
	}
	return pattern
}

// limitedName does the same for a pattern in server_name.
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

// backtracks reports whether another expression follows a repetition. Only then does PCRE try
// shorter repetitions. An optional group at the end, as in /api(/|$)(.*), does not count.
func backtracks(pattern string) bool {
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
