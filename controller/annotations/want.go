package annotations

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Want says what a value may look like. The classes of characters are those of
// ingress-nginx: what they let through, nginx.conf must bear.
type Want struct {
	Text string // for people, after "want "
	ok   func(string) bool
}

// The forms of values that several families take.
var (
	Anything = Want{Text: "any text"}
	Boolean  = Want{"true or false", func(s string) bool { _, err := strconv.ParseBool(s); return err == nil }}
	Number   = Want{"a whole number", func(s string) bool { _, err := strconv.Atoi(s); return err == nil }}
	OnOff    = OneOf("on", "off")
	Basic    = pattern(`[/\-._~a-zA-Z0-9:]*`, "letters, digits and / - . _ ~ :")
	Extended = pattern(`[/\-._~a-zA-Z0-9:, ]*`, "letters, digits, spaces and / - . _ ~ : ,")
	URL      = pattern(`[/\-._~a-zA-Z0-9:,?&=]*`, "a URL")
	URLVars  = pattern(`[/\-._~a-zA-Z0-9:,?&= $]*`, "a URL, which may have variables")
	Regex    = pattern(`[/\-._~a-zA-Z0-9:^$\[\](){}*+?|&=\\]*`, "a regular expression without spaces and quotes")
	Variable = pattern(`[A-Za-z0-9\-_${}]*`, "letters, digits and - _ $ { }")
	Capture  = pattern(`/?[/\-._~a-zA-Z0-9:$]*`, "a path, which may have captures such as $1")
	Headers  = pattern(`[A-Za-z0-9\-_, ]*`, "a list of header names")
	Size     = pattern(`(?i)\d+[bkmg]?`, "a size such as 512, 8k, 1m")
)

// pattern is a Want whose whole value matches. Line breaks never do: a value
// of several lines would leave its directive.
func pattern(expression, text string) Want {
	re := regexp.MustCompile(`^(?:` + expression + `)$`)
	return Want{text, func(s string) bool { return !strings.ContainsAny(s, "\r\n") && re.MatchString(s) }}
}

// OneOf is one of a few words.
func OneOf(words ...string) Want {
	return Want{"one of " + strings.Join(words, ", "), func(s string) bool { return slices.Contains(words, s) }}
}

// ListOf is items with commas in between.
func ListOf(item Want) Want {
	return Want{"a list with commas: " + item.Text, func(s string) bool {
		for part := range strings.SplitSeq(s, ",") {
			if !item.ok(strings.TrimSpace(part)) {
				return false
			}
		}
		return true
	}}
}
