package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"windtunnel.dev/sim/measure"
)

// generationRow is a row in the table of generations.
type generationRow struct {
	Generation, Began, Served, Drained, Workers, RSS, PSS, Held, Exits string
}

// generationRows returns the generations of a subject, in order. If there are many, it returns
// those that drained longest.
func generationRows(s measure.Subject, t measure.Timeline) []generationRow {
	longest := slices.Clone(s.Workers.History)
	slices.SortStableFunc(longest, func(a, b measure.History) int { return cmp.Compare(draining(b), draining(a)) })
	longest = longest[:min(mostListed, len(longest))]
	slices.SortStableFunc(longest, func(a, b measure.History) int { return cmp.Compare(a.Began, b.Began) })
	masters := map[int]bool{}
	for _, h := range s.Workers.History {
		masters[h.Master] = true
	}
	var all []generationRow
	for _, h := range longest {
		all = append(all, generationRowOf(h, t, len(masters) > 1))
	}
	return all
}

// draining returns how long a generation drained. It is the maximum duration for a generation that
// still drains, and -1 for one that never drained.
func draining(h measure.History) time.Duration {
	switch {
	case h.Draining < 0:
		return -1
	case h.Ended < 0:
		return math.MaxInt64
	}
	return h.Ended - h.Draining
}

func generationRowOf(h measure.History, t measure.Timeline, ofMaster bool) generationRow {
	l := generationRow{
		Generation: strconv.Itoa(h.Generation), Began: clock(t, h.Began), Workers: strconv.Itoa(h.Workers),
		RSS: sampled(h.PeakRSS), PSS: sampled(h.PeakPSS), Held: held(h), Exits: exits(h),
	}
	if ofMaster {
		l.Generation += fmt.Sprintf(" of master %d", h.Master)
	}
	switch {
	case h.Draining >= 0:
		l.Served = duration(h.Draining - h.Began)
	case h.Ended >= 0:
		l.Served = duration(h.Ended - h.Began)
	default:
		l.Served = "to the end"
	}
	switch {
	case h.Draining < 0:
		l.Drained = "–"
	case h.Ended < 0:
		l.Drained = "to the end"
	default:
		l.Drained = duration(h.Ended - h.Draining)
	}
	return l
}

func sampled(bytes int64) string {
	if bytes == 0 {
		return "–"
	}
	return size(bytes)
}

func held(h measure.History) string {
	switch {
	case h.Draining < 0:
		return "–"
	case h.Held.Samples == 0:
		return "ended before the first sample"
	case h.Held.Clients+h.Held.Pods == 0:
		return "none in the samples"
	}
	return fmt.Sprintf("%s of clients, %s to pods", count(h.Held.Clients), count(h.Held.Pods))
}

// exits describes how the workers of a generation ended, the most frequent status first.
func exits(h measure.History) string {
	if len(h.Exits) == 0 {
		return "–"
	}
	var ways []string
	for _, way := range slices.SortedFunc(maps.Keys(h.Exits), func(a, b string) int {
		return cmp.Or(cmp.Compare(h.Exits[b], h.Exits[a]), strings.Compare(a, b))
	}) {
		ways = append(ways, count(h.Exits[way])+" "+endedBy(way))
	}
	return strings.Join(ways, ", ")
}

func endedBy(way string) string {
	switch {
	case way == measure.Untold:
		return "exit status unknown"
	case strings.HasPrefix(way, "SIG"):
		return "by " + way
	}
	return "with " + way
}
