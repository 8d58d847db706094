package render

import (
	"fmt"
	"regexp"
	"strings"
)

// buildCorsOriginRegex sets $cors if a request's origin is allowed. An origin has a scheme, a host
// that can begin with "*.", and an optional port. "*" allows all origins; the response then
// contains "*" instead of the origin.
func buildCorsOriginRegex(origins []string) string {
	var patterns []string
	for _, origin := range origins {
		origin = strings.TrimSpace(origin)
		if origin == "*" {
			return "set $http_origin *;\nset $cors 'true';"
		}
		if origin != "" {
			patterns = append(patterns, "("+originPattern(origin)+")")
		}
	}
	if len(patterns) == 0 {
		return ""
	}
	var lines []string
	for _, alternatives := range inGroups(patterns, longestAlternatives) {
		lines = append(lines, fmt.Sprintf("if ($http_origin ~* ^(%s)$ ) { set $cors 'true'; }", strings.Join(alternatives, "|")))
	}
	return strings.Join(lines, "\n")
}

// longestAlternatives is the maximum length of a pattern with several origins, in bytes. nginx
// reads a parameter into a buffer of 4096 bytes (NGX_CONF_BUFFER).
const longestAlternatives = 3500

// inGroups splits texts into groups. A group, joined with one-character separators, does not exceed
// the limit unless it has a single text.
func inGroups(texts []string, longest int) [][]string {
	var pieces [][]string
	length := longest
	for _, text := range texts {
		if length += len(text) + 1; length > longest {
			pieces, length = append(pieces, nil), len(text)+1
		}
		pieces[len(pieces)-1] = append(pieces[len(pieces)-1], text)
	}
	return pieces
}

func originPattern(origin string) string {
	if scheme, rest, ok := strings.Cut(origin, "://*."); ok {
		return regexp.QuoteMeta(scheme) + `://[A-Za-z0-9\-]+\.` + regexp.QuoteMeta(rest)
	}
	return regexp.QuoteMeta(origin)
}

// CorsHeaders returns the pods' response headers that CORS replaces.
func (*located) CorsHeaders() []string {
	var names []string
	for _, what := range []string{"Origin", "Credentials", "Methods", "Headers"} {
		names = append(names, "Access-Control-Allow-"+what)
	}
	return append(names, "Access-Control-Expose-Headers", "Access-Control-Max-Age")
}
