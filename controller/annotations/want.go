package annotations

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"windtunnel.dev/controller/options"
)

// Want describes the valid values of a key. Its character classes are those of ingress-nginx;
// nginx.conf must be able to contain every text that they accept.
type Want struct {
	Text string // for users, after "want "
	ok   func(string) bool
	each bool // a list; each item becomes a separate parameter
}

// mostItems limits the length of lists, because most are written once per location.
const mostItems = 5000

// tooLong returns why a value does not fit into nginx.conf; empty if it fits.
func (w Want) tooLong(s string) string {
	if !w.each {
		return options.TooLong(s)
	}
	if strings.Count(s, ",") >= mostItems {
		return fmt.Sprintf("want at most %d items", mostItems)
	}
	for item := range strings.SplitSeq(s, ",") {
		if reason := options.TooLong(item); reason != "" {
			return reason
		}
	}
	return ""
}

// inOne returns a Want for a list that is written as one parameter.
func inOne(w Want) Want {
	w.each = false
	return w
}

// Value formats that several families use.
var (
	Anything = Want{Text: "any text"}
	Boolean  = Want{Text: "true or false", ok: func(s string) bool { _, err := strconv.ParseBool(s); return err == nil }}
	Number   = Want{Text: "a whole number", ok: func(s string) bool { _, err := strconv.Atoi(s); return err == nil }}
	Natural  = Between(0, 1<<31-1)
	Positive = Between(1, 1<<31-1)
	OnOff    = OneOf("on", "off")
	Basic    = pattern(`[/\-._~a-zA-Z0-9:]*`, "letters, digits and / - . _ ~ :")
	Object   = Want{Text: "[namespace/]name", ok: Basic.ok} // reader.reference checks the rest
	Whole    = Want{Text: "namespace/name", ok: Basic.ok}
	Extended = pattern(`[/\-._~a-zA-Z0-9:, ]*`, "letters, digits, spaces and / - . _ ~ : ,")
	URL      = pattern(`[/\-._~a-zA-Z0-9:,?&=]*`, "a URL")
	URLVars  = variables(pattern(`[/\-._~a-zA-Z0-9:,?&= $]*`, "a URL, which may have variables"))
	Regex    = Want{Text: regexChars.Text, ok: func(s string) bool { return regexChars.ok(s) && compiles(s) }}
	Variable = variables(pattern(`[A-Za-z0-9\-_${}]*`, "letters, digits, - _ and variables"))
	Capture  = variables(pattern(`/?[/\-._~a-zA-Z0-9:$]*`, "a path, which may have captures such as $1"))
	Template = variables(Want{Text: "text without spaces and quotes, which may have variables", ok: regexChars.ok})
	Headers  = pattern(`[A-Za-z0-9\-_, ]*`, "a list of header names")
	Size     = pattern(`(?i)\d{1,9}[km]?`, "a size such as 512, 8k, 1m")
	Offset   = pattern(`(?i)\d{1,9}[kmg]?`, "a size such as 512, 8k, 1m, 2g")
	Header   = pattern(`[A-Za-z0-9\-_]+`, "a header name")
	Networks = Want{Text: "IP addresses and networks, separated by commas", ok: areNetworks, each: true}
	Label    = pattern(`[a-z]([a-z0-9\-]{0,61}[a-z0-9])?`, "the name of a service")
)

// regexChars are the characters of a regular expression that ingress-nginx accepts.
var regexChars = pattern(`[/\-._~a-zA-Z0-9:^$\[\](){}*+?|&=\\]*`, "a regular expression without spaces and quotes")

// compiles returns false for a text that no regular expression dialect accepts, such as an unclosed
// parenthesis. Go's regexp supports less than nginx's PCRE.
func compiles(expression string) bool {
	_, err := syntax.Parse(expression, syntax.Perl)
	var bad *syntax.Error
	if !errors.As(err, &bad) {
		return true
	}
	return slices.Contains([]syntax.ErrorCode{syntax.ErrInvalidPerlOp, syntax.ErrInvalidRepeatOp, syntax.ErrInvalidEscape, syntax.ErrInvalidRepeatSize}, bad.Code)
}

// variables returns a Want that requires each dollar sign to begin a variable, as nginx does.
func variables(w Want) Want {
	return Want{Text: w.Text, ok: func(s string) bool { return w.ok(s) && options.HasVariablesOnly(s) }}
}

// pattern returns a Want that matches the whole value. It never accepts line breaks, because text
// after one would be outside the directive.
func pattern(expression, text string) Want {
	re := regexp.MustCompile(`^(?:` + expression + `)$`)
	return Want{Text: text, ok: func(s string) bool { return !strings.ContainsAny(s, "\r\n") && re.MatchString(s) }}
}

// Between returns a Want for an integer from least to most.
func Between(least, most int) Want {
	return Want{Text: fmt.Sprintf("a whole number from %d to %d", least, most), ok: func(s string) bool {
		number, err := strconv.Atoi(s)
		return err == nil && number >= least && number <= most
	}}
}

// AtMost returns a Want for an integer with a maximum.
func AtMost(most int) Want {
	return Want{Text: fmt.Sprintf("a whole number up to %d", most), ok: Between(math.MinInt32, most).ok}
}

// areNetworks requires at least one network: an empty list would admit or reject all clients.
func areNetworks(s string) bool {
	return strings.Trim(s, ", ") != "" && ListOf(Want{ok: isNetwork}).ok(s)
}

func isNetwork(s string) bool {
	if strings.HasPrefix(s, "255.255.255.255") {
		return false // nginx mistakes it for an error value
	}
	if _, err := netip.ParsePrefix(s); err == nil {
		return true
	}
	address, err := netip.ParseAddr(s)
	return err == nil && address.Zone() == ""
}

// OneOf returns a Want for one of the words.
func OneOf(words ...string) Want {
	text := strings.Join(words, ", ")
	if len(words) > 1 {
		text = "one of " + text
	}
	return Want{Text: text, ok: func(s string) bool { return slices.Contains(words, s) }}
}

// WordsOf returns a Want for one or more of the words, separated by spaces.
func WordsOf(words ...string) Want {
	return Want{Text: "words of " + strings.Join(words, ", "), ok: func(s string) bool {
		given := strings.Fields(s)
		return len(given) > 0 && !strings.ContainsAny(s, "\r\n") &&
			!slices.ContainsFunc(given, func(w string) bool { return !slices.Contains(words, w) })
	}}
}

// ListOf returns a Want for items separated by commas. Empty items do not count.
func ListOf(item Want) Want {
	return Want{Text: "a comma-separated list: " + item.Text, each: true, ok: func(s string) bool {
		for part := range strings.SplitSeq(s, ",") {
			if part = strings.TrimSpace(part); part != "" && !item.ok(part) {
				return false
			}
		}
		return !strings.ContainsAny(s, "\r\n")
	}}
}
