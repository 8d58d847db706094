package annotations

import (
	"fmt"
	"maps"
	"slices"

	"windtunnel.dev/internal/suggest"
)

// mostUnknown limits the problems about unknown annotations of one ingress, because each one
// becomes an Event.
const mostUnknown = 10

// Names returns the names of all annotations and their aliases, sorted, without the prefix.
func Names() []string { return slices.Clone(names) }

var names = slices.Sorted(maps.Keys(byName))

// unknown returns a problem for each annotation with our prefix that is not in the table, and
// suggests a similar name. ingress-nginx silently ignores unknown annotations, so typos go
// unnoticed there.
func unknown(given map[string]string, prefix string) []Problem {
	var found []Problem
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
		found = append(found, Problem{Key: prefix + "/" + name, Reason: reason})
	}
	if more > 0 {
		found[mostUnknown-1].Reason += fmt.Sprintf(" (and %d more unknown annotations)", more)
	}
	return found
}
