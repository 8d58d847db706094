package expect

import (
	"fmt"
	"regexp"
	"strings"

	"cel.dev/cel-go/common"
)

var (
	durationText = regexp.MustCompile(`(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+`)
	sizeText     = regexp.MustCompile(`(\d+(?:\.\d+)?)(Ki|Mi|Gi)B?`)
)

// unitFactors are the factors of the units of sizes, as an expectation can write them.
var unitFactors = map[string]string{"Ki": "1024", "Mi": "1024 * 1024", "Gi": "1024 * 1024 * 1024"}

// unitNear returns how to write a number with a unit, such as 8s, if there is one at the place of an
// error; "" if there is none. CEL has no such literals: it reports the unit as an unexpected name.
func unitNear(text string, at common.Location) string {
	lines := strings.Split(text, "\n")
	if at.Line() < 1 || at.Line() > len(lines) || at.Column() < 0 {
		return ""
	}
	line := lines[at.Line()-1]
	if found := wordAt(durationText, line, at.Column()); found != nil {
		return fmt.Sprintf("write the duration %s as duration(%q)", found[0], found[0])
	}
	if found := wordAt(sizeText, line, at.Column()); found != nil {
		return fmt.Sprintf("write the size %s in bytes, as %s * %s", found[0], found[1], unitFactors[found[2]])
	}
	return ""
}

// wordAt returns the match of a pattern, with its groups, that is a whole word and contains a column.
func wordAt(pattern *regexp.Regexp, line string, column int) []string {
	for _, at := range pattern.FindAllStringSubmatchIndex(line, -1) {
		begin, end := at[0], at[1]
		first := len([]rune(line[:begin]))
		last := first + len([]rune(line[begin:end])) - 1
		if column < first || column > last || begin > 0 && isWord(line[begin-1]) || end < len(line) && isWord(line[end]) {
			continue
		}
		var groups []string
		for n := 0; n < len(at); n += 2 {
			groups = append(groups, line[at[n]:at[n+1]])
		}
		return groups
	}
	return nil
}

// isWord reports whether a byte may belong to a name or a number.
func isWord(b byte) bool {
	return b == '_' || b == '.' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b >= 0x80
}

// durationCompared matches CEL's error about the comparison of a duration with something else.
var durationCompared = regexp.MustCompile(`no matching overload for '_[<>=!]=?_' applied to '\((?:duration, \w+|\w+, duration)\)'`)

// durationWanted returns how to write a duration if one is compared with a number or a text; "" otherwise.
func durationWanted(message string) string {
	if !durationCompared.MatchString(message) {
		return ""
	}
	return `write a duration as duration("8s")`
}
