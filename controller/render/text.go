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

// empty reports whether value is not a string or is the empty string.
func empty(value any) bool {
	text, ok := value.(string)
	return !ok || text == ""
}

// quote returns value as one quoted parameter.
func quote(value any) string {
	switch value := value.(type) {
	case string:
		return strconv.Quote(value)
	case *string:
		if value != nil {
			return strconv.Quote(*value)
		}
	}
	return strconv.Quote(fmt.Sprint(value))
}

// escapeLiteralDollar replaces dollar signs, because nginx has no escape for them. The template
// sets a variable that contains one.
func escapeLiteralDollar(value any) string {
	text, _ := value.(string)
	return strings.ReplaceAll(text, "$", "${literal_dollar}")
}

var inQuotes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func sanitizeQuotedRegex(text string) string { return inQuotes.Replace(text) }

// plain matches text that nginx reads as one parameter without quotes.
var plain = regexp.MustCompile(`^[^\s;{}"'\\#]+$`)

// parameter returns text as one parameter, quoted only if necessary.
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

// isValidByteSize reports whether nginx accepts value as a size or, if offset is true, as an
// offset, which can be in gigabytes.
func isValidByteSize(value any, offset bool) bool {
	text, _ := value.(string)
	if offset {
		return byteOffset.MatchString(strings.TrimSpace(text))
	}
	return byteSize.MatchString(strings.TrimSpace(text))
}

// mapKey escapes a key of a map that nginx would read as a keyword (ngx_http_map_module).
func mapKey(key string) string {
	switch key {
	case "default", "hostnames", "include", "volatile":
		return `\` + key
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

// buildDenyVariable returns a variable name for text that consists of letters. In ingress-nginx it
// is random; here equal texts give equal bytes.
func buildDenyVariable(text string) string {
	name := []byte("$deny_")
	for _, b := range sha256.Sum256([]byte(text)) {
		name = append(name, 'a'+b%26)
	}
	return string(name)
}

// getenv returns an environment variable of the controller, which stays the same while it runs.
func getenv(name string) string { return os.Getenv(name) }

// comment returns text for a comment: one line of limited length.
func comment(text string) string {
	const longest = 300
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > longest {
		text = text[:longest] + "…"
	}
	return text
}
