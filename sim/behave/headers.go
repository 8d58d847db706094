package behave

import (
	"slices"
	"strings"
)

// Headers that carry no information, differ from run to run, or have a field of their own. They
// do not count as other headers.
var (
	VolatileInAnswers = []string{
		"Age", "Alt-Svc", "Connection", "Content-Length", "Date", "Etag", "Keep-Alive", "Last-Modified", "Location", "Server", "Set-Cookie",
		"Trailer", "Transfer-Encoding", "Via", "X-Request-Id",
	}
	VolatileAtPods = []string{
		"Connection", "Content-Length", "Cookie", "Keep-Alive", "Te", "Traceparent", "Tracestate", "Trailer", "Transfer-Encoding", "User-Agent", "Via",
		"Accept-Encoding", "Content-Type", "Grpc-Accept-Encoding", "Host",
	}
)

// OfPods reports whether a header is one of those with which simulated pods describe themselves.
func OfPods(name string) bool { return strings.HasPrefix(name, "X-Windtunnel-") }

func hasName(names []string, name string) bool {
	return slices.ContainsFunc(names, func(one string) bool { return strings.EqualFold(one, name) })
}
