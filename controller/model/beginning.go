package model

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/options"
)

// denyBeginning stands in for a path that nginx.conf cannot have: without it, its
// requests would fall to a shorter path, which may protect less. Requests that
// begin as the path does get 503.
func (b *builder) denyBeginning(ingress *networkingv1.Ingress, path rulePath, server *Server, reason string) {
	beginning := literally(path.Path)
	if b.meansPatterns(ingress) {
		beginning = literalPrefix(path.Path)
	}
	beginning = beginningOf(beginning)
	if len(beginning) < 2 || server.find(beginning, *prefix()) >= 0 { // "/" is others', too
		b.find(ingress, path.key, "%s: %s; the path is left out, so its requests may be answered by a shorter path", shown(path.Path), reason)
		return
	}
	b.find(ingress, path.key, "%s: %s; requests that begin like it get 503", shown(path.Path), reason)
	location := b.location(beginning, prefix(), ingress, DefaultBackendName)
	location.Beginning, location.Denied = true, &reason
	server.Locations = append(server.Locations, location)
}

// literally is a path that is no pattern, up to where nginx.conf cannot have it.
func literally(path string) string {
	if end := strings.IndexFunc(path, isControl); end >= 0 {
		path = path[:end]
	}
	return path
}

// literalPrefix is what each request that a pattern matches begins with, in
// letters of either case. A pattern that is none is matched letter by letter.
func literalPrefix(pattern string) string {
	if options.BadPattern(pattern) != nil {
		return literally(pattern)
	}
	parsed, err := regexp.Compile(pattern)
	if err != nil {
		return "" // only PCRE knows it
	}
	prefix, _ := parsed.LiteralPrefix()
	return literally(prefix)
}

// beginningOf cuts a path down to what surely fits into nginx.conf, as a pattern
// that is matched letter by letter, too.
func beginningOf(path string) string {
	path = path[:min(len(path), longestPath)]
	for !utf8.ValidString(path) || len(strconv.Quote(regexp.QuoteMeta(path)))+len("{literal_dollar}")*strings.Count(path, "$") > longestPath {
		_, last := utf8.DecodeLastRuneInString(path)
		path = path[:len(path)-last]
	}
	return path
}
