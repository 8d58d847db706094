package model

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/options"
)

// denyBeginning adds a location that answers 503 for a path that cannot appear in nginx.conf.
// Otherwise a shorter path, which may be less protected, would answer its requests. The location
// covers all requests that start with the printable beginning of the path.
func (b *builder) denyBeginning(ingress *networkingv1.Ingress, path rulePath, server *Server, reason string) {
	beginning := printablePrefix(path.Path)
	if b.usesRegex(ingress) {
		beginning = literalPrefix(path.Path)
	}
	beginning = beginningOf(beginning)
	if len(beginning) < 2 || server.find(beginning, *prefix()) >= 0 { // "/" would deny the requests of other paths
		b.find(ingress, path.key, "%s: %s; the path is left out, so its requests may be answered by a shorter path", shown(path.Path), reason)
		return
	}
	b.find(ingress, path.key, "%s: %s; requests with the same beginning get 503", shown(path.Path), reason)
	location := b.location(beginning, prefix(), ingress, DefaultBackendName)
	location.Beginning, location.Denied = true, &reason
	server.Locations = append(server.Locations, location)
}

// printablePrefix returns a literal path up to the first control character, which nginx.conf cannot
// contain.
func printablePrefix(path string) string {
	if end := strings.IndexFunc(path, isControl); end >= 0 {
		path = path[:end]
	}
	return path
}

// literalPrefix returns the literal prefix, ignoring case, that all matches of a pattern share. An
// invalid pattern is treated as literal text.
func literalPrefix(pattern string) string {
	if options.BadPattern(pattern) != nil {
		return printablePrefix(pattern)
	}
	parsed, err := regexp.Compile(pattern)
	if err != nil {
		return "" // only PCRE supports the syntax
	}
	prefix, _ := parsed.LiteralPrefix()
	return printablePrefix(prefix)
}

// beginningOf shortens a path until it fits into nginx.conf, even as a quoted pattern.
func beginningOf(path string) string {
	path = path[:min(len(path), longestPath)]
	for !utf8.ValidString(path) || len(strconv.Quote(regexp.QuoteMeta(path)))+len("{literal_dollar}")*strings.Count(path, "$") > longestPath {
		_, last := utf8.DecodeLastRuneInString(path)
		path = path[:len(path)-last]
	}
	return path
}
