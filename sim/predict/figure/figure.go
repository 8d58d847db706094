// Package figure lists the figures of predictions: each figure's name, unit and value in a
// simulated run, and conditions on figures. Its one rule: a figure means the same as the
// measurement of a run that its row names.
package figure

import (
	"math"
	"slices"
	"time"

	"windtunnel.dev/sim/predict/simulate"
)

// Unit is the unit of a figure.
type Unit string

// The units.
const (
	Seconds Unit = "s"
	MiB     Unit = "MiB"
	Count   Unit = "count"
	Share   Unit = "share" // 0 to 1
)

// Figure is a predicted quantity.
type Figure struct {
	Name  string
	Label string
	Unit  Unit
	Doc   string
	// Measured is the measurement of a run that means the same (docs/scenarios.md), or "" if there is
	// none. Unlike measurements, times until changes are served include changes that are not served, with
	// the time until the end.
	Measured string
	// Least is the smallest value by which errors are divided: smaller ones do not matter.
	Least float64
	Of    func(simulate.Outcome) float64
}

// Table lists all figures, in the order of reports.
var Table = []Figure{
	{"staleness.p50", "staleness p50", Seconds, "from the intent of a change until every worker serves it, for half of the changes", "converge.last.p50", 0.05, quantile(0.5, last)},
	{"staleness.p99", "staleness p99", Seconds, "the same, for 99 % of the changes", "converge.last.p99", 0.05, quantile(0.99, last)},
	{"staleness.max", "staleness max", Seconds, "the same, for all changes", "", 0.05, quantile(1, last)},
	{"first.p50", "first worker p50", Seconds, "from the intent of a change until the first worker serves it, for half of the changes", "converge.first.p50", 0.05, quantile(0.5, first)},
	{"first.p99", "first worker p99", Seconds, "the same, for 99 % of the changes", "converge.first.p99", 0.05, quantile(0.99, first)},
	{"unserved", "changes not served", Count, "changes that some worker did not serve when the time to settle was over; their staleness is at least the time until then", "changes.unconverged", 1, func(o simulate.Outcome) float64 { return float64(o.Unserved) }},
	{"syncs", "syncs", Count, "syncs of the controller, with those that find nothing to do", "", 1, func(o simulate.Outcome) float64 { return float64(o.Syncs) }},
	{"reloads", "reloads", Count, "reloads of nginx", "reloads", 1, func(o simulate.Outcome) float64 { return float64(o.Reloads) }},
	{"busy", "controller is busy", Share, "share of the time in which a sync runs", "", 0.01, simulate.Outcome.Busy},
	{"generations", "generations alive at once", Count, "maximum number of generations of workers alive at once", "workers.alive", 1, func(o simulate.Outcome) float64 { return float64(o.Generations) }},
	{"workers", "workers alive at once", Count, "maximum number of workers alive at once", "workers.most", 1, func(o simulate.Outcome) float64 { return float64(o.Workers) }},
	{"list", "list of backends", MiB, "size of a POST of all backends, which must fit into Lua's dictionary configuration_data", "", 1, func(o simulate.Outcome) float64 { return o.List }},
	{"memory.peak", "peak memory", MiB, "sum of the peaks of nginx and of the controller", "memory.peakPSS and the controller", 1, func(o simulate.Outcome) float64 { return o.Memory.Sum() }},
	{"memory.nginx", "peak memory, nginx", MiB, "all processes of nginx, with shared pages counted once", "memory.peakPSS", 1, func(o simulate.Outcome) float64 { return o.Memory.Nginx }},
	{"memory.controller", "peak memory, controller", MiB, "resident memory of the controller", "the controller in the log", 1, func(o simulate.Outcome) float64 { return o.Memory.Controller }},
	{"lost", "requests lost", Count, "requests that clients lose because of reloads, departed pods and interrupted streams", "requests.failed", 1, func(o simulate.Outcome) float64 { return o.Lost.Sum() }},
}

// Names returns the names of all figures.
func Names() []string {
	var all []string
	for _, f := range Table {
		all = append(all, f.Name)
	}
	return all
}

// Find returns a figure by its name.
func Find(name string) (Figure, bool) {
	for _, f := range Table {
		if f.Name == name {
			return f, true
		}
	}
	return Figure{}, false
}

func first(o simulate.Outcome) []time.Duration { return o.First }
func last(o simulate.Outcome) []time.Duration  { return o.Last }

func quantile(q float64, of func(simulate.Outcome) []time.Duration) func(simulate.Outcome) float64 {
	return func(o simulate.Outcome) float64 {
		sorted := slices.Clone(of(o))
		slices.Sort(sorted)
		return Quantile(q, sorted).Seconds()
	}
}

// Quantile returns the smallest value that a share q of the sorted values does not exceed, or 0 if
// there are none.
func Quantile[T any](q float64, sorted []T) (value T) {
	if len(sorted) == 0 {
		return value
	}
	at := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[max(0, min(at, len(sorted)-1))]
}
