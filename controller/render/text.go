package render

import (
	"crypto/sha256"
	"fmt"
	"net/netip"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// empty is true for everything but a string that has a character.
func empty(value any) bool {
	text, ok := value.(string)
	return !ok || text == ""
}

// quote makes one parameter of anything.
func quote(value any) string {
	if text, ok := value.(*string); ok && text != nil {
		return strconv.Quote(*text)
	}
	return strconv.Quote(fmt.Sprint(value))
}

// escapeLiteralDollar keeps nginx from seeing a variable: it has no escape for
// a dollar, so the template sets a variable that holds one.
func escapeLiteralDollar(value any) string {
	text, _ := value.(string)
	return strings.ReplaceAll(text, "$", "${literal_dollar}")
}

var inQuotes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func sanitizeQuotedRegex(text string) string { return inQuotes.Replace(text) }

// plain is what nginx reads as one parameter without quotes, and in it nothing
// but text and variables.
var plain = regexp.MustCompile(`^[^\s;{}"'\\#]+$`)

// parameter makes one parameter of text, quoted only where it must be.
func parameter(text string) string {
	if plain.MatchString(text) {
		return text
	}
	return quote(text)
}

var (
	byteSize   = regexp.MustCompile(`^\d+[kKmM]?$`)
	byteOffset = regexp.MustCompile(`^\d+[kKmMgG]?$`)
)

// isValidByteSize tells whether nginx reads value as a size or, with offset, as
// an offset, which may be in gigabytes.
func isValidByteSize(value any, offset bool) bool {
	text, _ := value.(string)
	if offset {
		return byteOffset.MatchString(strings.TrimSpace(text))
	}
	return byteSize.MatchString(strings.TrimSpace(text))
}

// mapKey escapes a key of a map that nginx would read as a keyword
// (ngx_http_map_module).
func mapKey(key string) string {
	switch key {
	case "default", "hostnames", "include", "volatile":
		return `\\` + key
	}
	return key
}

// formatIP puts an IPv6 address in brackets.
func formatIP(text string) string {
	if address, err := netip.ParseAddr(text); err == nil && address.Is6() {
		return "[" + text + "]"
	}
	return text
}

// buildDenyVariable is a variable's name for text, of letters only. It is
// random in ingress-nginx; here equal texts give equal bytes.
func buildDenyVariable(text string) string {
	name := []byte("$deny_")
	for _, b := range sha256.Sum256([]byte(text)) {
		name = append(name, 'a'+b%26)
	}
	return string(name)
}

// getenv reads the controller's own environment, which does not change while
// it runs.
func getenv(name string) string { return os.Getenv(name) }

// comment makes text fit behind a #: one line, and not without end.
func comment(text string) string {
	const longest = 300
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > longest {
		text = text[:longest] + "…"
	}
	return text
}
