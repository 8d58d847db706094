package report

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"windtunnel.dev/sim/event"
)

// causeWords say what happened to requests that failed, after their number: "9 reset".
var causeWords = map[event.Cause]string{
	event.IdleClose:  "closed while idle",
	event.Reset:      "reset",
	event.Refused:    "refused",
	event.EOF:        "closed before the response",
	event.Truncated:  "with a truncated response",
	event.StreamCut:  "with a cut stream",
	event.Corrupted:  "with a corrupted response",
	event.Timeout:    "timed out",
	event.NginxError: "answered 5xx by nginx",
	event.PodError:   "answered 5xx by a pod",
	event.NotFound:   "answered 404 by nginx",
	event.NginxOther: "answered 3xx or 4xx by nginx",
	event.PodOther:   "answered 3xx or 4xx by a pod",
	event.AnyError:   "answered 5xx by nginx or a pod",
	event.AnyOther:   "answered 4xx by nginx or a pod",
	event.WrongPod:   "answered by a pod of another service",
	event.GonePod:    "answered by a pod that was gone",
	event.Handshake:  "with a failed TLS handshake",
	event.WrongCert:  "with a certificate of another host",
	event.OurDialing: "not sent, because the load generator could not open a socket",
	event.OurCancel:  "cancelled by the end of the run",
	event.Unknown:    "for an unknown cause",
}

// causesOf lists causes in words, the most frequent first.
func causesOf(causes map[string]int) string {
	var all []string
	for _, cause := range byCount(causes) {
		words, known := causeWords[event.Cause(cause)]
		if !known {
			words = cause
		}
		all = append(all, count(causes[cause])+" "+words)
	}
	return strings.Join(all, ", ")
}

// byCount returns names by their count, the largest first.
func byCount(counts map[string]int) []string {
	return slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(a, b))
	})
}
