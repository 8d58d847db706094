package annotations

import (
	"fmt"
	"maps"
	"slices"

	"windtunnel.dev/internal/suggest"
)

// mostUnknown bounds the findings about unknown annotations of one ingress: each
// is an Event.
const mostUnknown = 10

// Names are the names of all annotations and their aliases, sorted, without the prefix.
func Names() []string { return slices.Clone(names) }

var names = slices.Sorted(maps.Keys(byName))

// unknown has a finding for each annotation with our prefix that is not in the
// table, with the one that was probably meant. ingress-nginx ignores these in
// silence; so a misspelt annotation goes unnoticed there.
func unknown(given map[string]string, prefix string) []Finding {
	var found []Finding
	more := 0
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if _, known := byName[name]; known {
			continue
		}
		if len(found) == mostUnknown {
			more++
			continue
		}
		reason := "this controller has no such annotation; it is ignored"
		if nearest := suggest.Nearest(name, names); nearest != "" {
			reason += fmt.Sprintf("; did you mean %s/%s?", prefix, nearest)
		}
		found = append(found, Finding{Key: prefix + "/" + name, Reason: reason})
	}
	if more > 0 {
		found[mostUnknown-1].Reason += fmt.Sprintf(" (and %d more unknown annotations)", more)
	}
	return found
}
