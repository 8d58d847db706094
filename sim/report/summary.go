package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
)

// row is a row of the summary. It has lines for each subject.
type row struct {
	Label string
	Note  string // its meaning, in one sentence
	of    string // the measurement without which the row does not apply to a subject; "" if it always does
	cell  func(measure.Subject) []string
}

// lines returns the lines for a subject: a dash if the row does not apply to it.
func (r row) lines(s measure.Subject) []string {
	if r.of != "" && s.WhyNot(r.of) != "" {
		return []string{notApplicable}
	}
	return r.cell(s)
}

// notApplicable is shown in place of a measurement that does not apply to a subject; remarks say why.
const notApplicable = "–"

// rows defines the summary, in order. The terminal and the page show the same rows. Every figure
// with a label (measure.Figures) has a row: figures that are not in this list come before the last
// row.
var rows = withFigures([]row{
	{"changes made", "Changes of the cluster that the scenario made in the measured rounds, and their results.", "", changes},
	figure("reloads"),
	{"POSTs", "Dynamic updates that the controller sent to its proxy, and their size.", "posts", posts},
	{"first convergence p50 / p99 / max", "From the intent of a change until the first worker served it.", "",
		func(s measure.Subject) []string { return times(s.Converge.First, s.Changes, false) }},
	{"last convergence p50 / p99 / max", "From the intent of a change until every worker served it; changes that not every worker served are not included.", "",
		func(s measure.Subject) []string { return times(s.Converge.Last, s.Changes, true) }},
	{"of which wait / sync / spread p50", "The stages of a change, medians. Wait: from the API server's acceptance to the start of the sync that applied the change. Sync: that sync. Spread: from the first worker to the last.", "converge.way.sync", legs},
	{"faults and what they struck", "The faults that the harness injected, and how much they struck.", "", faultStrikes},
	{"requests sent", "Requests that the lanes were due to send in the measured rounds.", "",
		func(s measure.Subject) []string { return []string{count(s.Requests.Sent)} }},
	{"requests failed, by cause", "If none failed: the upper bound of the true rate at 95 % confidence (the rule of three).", "", failures},
	figure("requests.retries"),
	figure("requests.sockets"),
	{"request latency p50 / p99", "From the time a request was due to the last byte of its answer; with several lanes, for each as well. Lanes whose clients choose the length of requests have no latency.", "", latency},
	{"streams and long requests p50 / max", "The duration of requests whose length the client chooses, such as streams. This is not a latency.", "", requestDurations},
	{"new certificate first / last seen p50 / max", "From the intent of a change until a client first received the new certificate, and until a client last received the old one.", "", certificates},
	{"stale answers: number, latest", "Answers of pods that a change had removed from their service, and how long after its intent the last of these requests was sent.", "", stale},
	figure("workers.alive"),
	{"worker drain time p50 / max", "From the signal to shut down gracefully until the exit of a worker. Workers that ended in another way are listed separately.", "", drainTimes},
	{"peak memory, proxy", "Resident memory of nginx, or of the proxy that the subject has, summed over all its processes; shared pages count in each. From the beginning of the first round to the end of the last.", "", memory},
	{"peak heap, controller", "Heap of the controller's Go process, garbage included, from its metrics. From the beginning of the first round to the end of the last.", "heap", heap},
	{"fullest dictionary", "The shared dictionary of nginx's Lua with the smallest free share, and the minimum of its free space in whole pages.", "dictionaries", fullestDictionary},
	figure("cpu.controller"),
	figure("cpu.nginx"),
	{"controllers observed", "The controllers of an observed installation, the counts in their metrics, and the time between two polls of a controller. The time of a reload is known to within one poll.", "", observedControllers},
	{"delay between storage and report of a change, p50 / max", "From the time at which the API server stored a change until its watch reported it. The API server records whole seconds, so up to one second may be rounding.", "", toldLate},
	{"sockets of the simulated pods", "Whether all pods shared one socket per port, or each pod had its own. Either way, the kernel refused connections to a pod that was starting or gone.", "", podSockets},
	{"run is valid", "Whether the figures of the run can be relied on.", "", validityLines},
})

// figure returns the row of a figure.
func figure(name string) row {
	all := measure.Figures()
	return rowOf(all[slices.IndexFunc(all, func(f measure.Figure) bool { return f.Name == name })])
}

func rowOf(f measure.Figure) row {
	return row{f.Label, f.Doc, f.Name, func(s measure.Subject) []string {
		value, ok := f.Of(s)
		if !ok {
			return nil
		}
		return []string{Value(f.Kind, value)}
	}}
}

// withFigures adds rows for the figures that have a label but no row, before the last row.
func withFigures(rows []row) []row {
	last := len(rows) - 1
	for _, f := range measure.Figures() {
		if f.Label != "" && !slices.ContainsFunc(rows, func(r row) bool { return r.Label == f.Label }) {
			rows = slices.Insert(rows, last, rowOf(f))
			last++
		}
	}
	return rows
}

// observedControllers describes the controllers of an observation; nil if the run was not one.
func observedControllers(s measure.Subject) []string {
	r := s.Reported
	if r.Controllers == 0 {
		return nil
	}
	lines := []string{count(r.Controllers)}
	if r.Granularity.N > 0 {
		lines = append(lines, "polled every "+duration(r.Granularity.P50)+", max "+duration(r.Granularity.Max))
	}
	for _, part := range []struct {
		n    int
		what string
	}{{r.Reloads, "reloads counted"}, {r.Failed, "reloads failed"}, {r.Restarts, "restarted"}, {int(r.Dropped), "connections dropped"}, {int(r.Requests), "requests of all clients"}} {
		if part.n > 0 {
			lines = append(lines, count(part.n)+" "+part.what)
		}
	}
	return lines
}

// toldLate says how late the API reported changes; nil if that is not known.
func toldLate(s measure.Subject) []string {
	if s.Reported.Late.N == 0 {
		return nil
	}
	return []string{duration(s.Reported.Late.P50) + " / " + duration(s.Reported.Late.Max)}
}

// podSockets returns nil if there were none.
func podSockets(s measure.Subject) []string {
	switch s.PodSockets.Mode {
	case event.SharedSockets:
		return []string{"shared"}
	case event.OwnSockets:
		return []string{"one per pod"}
	}
	return nil
}

func changes(s measure.Subject) []string {
	lines := []string{count(s.Changes.Made)}
	for _, part := range []struct {
		n    int
		fate measure.Fate
	}{
		{s.Changes.Failed, measure.Failed}, {s.Changes.Superseded, measure.Superseded}, {s.Changes.Unconverged, measure.Unconverged},
		{s.Changes.Unwatched, measure.Unwatched},
	} {
		if part.n > 0 {
			lines = append(lines, fmt.Sprintf("%s %s", count(part.n), part.fate))
		}
	}
	return lines
}

// rowsOf returns the rows that have lines for at least one subject. Most rows have a line even if
// nothing was measured.
func rowsOf(result measure.Result) []row {
	return slices.DeleteFunc(slices.Clone(rows), func(r row) bool {
		return !slices.ContainsFunc(result.Subjects, func(s measure.Subject) bool { return r.lines(s) != nil })
	})
}

// certificates returns nil if no certificate changed.
func certificates(s measure.Subject) []string {
	c := s.Certificates
	if c.Changed == 0 {
		return nil
	}
	lines := []string{}
	if c.First.N > 0 {
		lines = append(lines, fmt.Sprintf("%s / %s, %s / %s", duration(c.First.P50), duration(c.First.Max), duration(c.Last.P50), duration(c.Last.Max)))
	}
	if c.Unseen > 0 {
		lines = append(lines, fmt.Sprintf("%s of %s never seen", count(c.Unseen), count(c.Changed)))
	}
	return lines
}

// stale returns nil if no answer was stale.
func stale(s measure.Subject) []string {
	if s.Requests.Stale.N == 0 {
		return nil
	}
	return []string{count(s.Requests.Stale.N) + ", " + duration(s.Requests.Stale.Max)}
}

func posts(s measure.Subject) []string {
	if !s.Posts.Visible {
		return []string{"not reported by the controller"}
	}
	if s.Posts.Count == 0 {
		return []string{"0"}
	}
	return []string{count(s.Posts.Count) + ", " + size(s.Posts.Bytes)}
}

// times returns quantiles of the times of changes. If some changes have no time, it adds how many,
// and why. all means that the time is that of all workers.
func times(d measure.Durations, made measure.Changes, all bool) []string {
	if d.N == 0 {
		return []string{"none"}
	}
	lines := []string{duration(d.P50) + " / " + duration(d.P99) + " / " + duration(d.Max)}
	if d.N < made.Made {
		lines = append(lines, fmt.Sprintf("for %s of %s %s", count(d.N), count(made.Made), plural.Noun(made.Made, "change")))
		lines = append(lines, missingTimes(made, made.Made-d.N, all)...)
	}
	return lines
}

// missingTimes explains why changes have no time. A change that was undone, or that was cut short
// by the end of its round, may still have been served by one worker.
func missingTimes(made measure.Changes, rest int, all bool) (lines []string) {
	type reason struct {
		n    int
		what string
	}
	reasons := []reason{{made.Failed, "refused by the API"}, {made.Unwatched, "not visible in answers"}}
	if all {
		reasons = append(reasons, reason{made.Superseded, "undone before that"}, reason{made.Unconverged, "not in time"})
	} else {
		reasons = append(reasons, reason{rest - made.Failed - made.Unwatched, "by no worker in time"})
	}
	for _, r := range reasons {
		if r.n > 0 {
			lines = append(lines, count(r.n)+" "+r.what)
		}
	}
	return lines
}

func legs(s measure.Subject) []string {
	w := s.Converge.Legs
	if w.Sync.N == 0 {
		return []string{"not reported"}
	}
	var parts []string
	for _, leg := range []measure.Durations{w.Wait, w.Sync, w.Spread} {
		parts = append(parts, duration(leg.P50))
	}
	return []string{strings.Join(parts, " / ")}
}

func failures(s measure.Subject) []string {
	r := s.Requests
	switch {
	case r.Sent == 0:
		return []string{"none sent"}
	case r.Failed == 0:
		return []string{"0", "rate < " + percent(r.Bound) + " (95 %)"}
	}
	lines := []string{count(r.Failed) + " (" + percent(r.Bound) + ")"}
	causes := slices.SortedFunc(maps.Keys(r.Causes), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.Causes[b], r.Causes[a]), strings.Compare(a, b))
	})
	for _, cause := range causes {
		lines = append(lines, count(r.Causes[cause])+" "+cause)
		if cause == string(event.NginxError) && r.Departed > 0 {
			lines = append(lines, count(r.Departed)+" of these for departed pods")
		}
	}
	return lines
}

// latency returns the latency of all lanes together and, if several lanes have one, that of each
// lane.
func latency(s measure.Subject) []string {
	quantiles := func(d measure.Durations) string { return duration(d.P50) + " / " + duration(d.P99) }
	if s.Requests.Latency.N == 0 {
		if requestDurations(s) != nil {
			return []string{"no lane measures it"}
		}
		return []string{"none answered"}
	}
	lines := []string{quantiles(s.Requests.Latency)}
	var each []string
	for _, lane := range s.Lanes {
		if lane.Latency.N > 0 {
			each = append(each, lane.Name+" "+quantiles(lane.Latency))
		}
	}
	if len(each) > 1 {
		lines = append(lines, each...)
	}
	return lines
}

// requestDurations returns nil if no lane has requests with a chosen length.
func requestDurations(s measure.Subject) (lines []string) {
	for _, lane := range s.Lanes {
		if lane.Lasted.N > 0 {
			lines = append(lines, lane.Name+" "+duration(lane.Lasted.P50)+" / "+duration(lane.Lasted.Max))
		}
	}
	return lines
}

// faultStrikes returns nil if there was no fault, or if the log does not contain what it struck.
func faultStrikes(s measure.Subject) (lines []string) {
	for _, f := range s.Struck {
		if f.Of != "" {
			lines = append(lines, fmt.Sprintf("%s: %s %s", f.Name, count(f.Count), f.Of))
		}
	}
	return lines
}

func memory(s measure.Subject) []string {
	if s.Memory.PeakRSS == 0 {
		return []string{"not sampled"}
	}
	return []string{size(s.Memory.PeakRSS), "from " + size(s.Memory.StartRSS) + " to " + size(s.Memory.EndRSS)}
}

// heap returns nil if the controller does not report its heap.
func heap(s measure.Subject) []string {
	if s.Heap.Peak == 0 {
		return nil
	}
	return []string{size(s.Heap.Peak), "from " + size(s.Heap.Start) + " to " + size(s.Heap.End)}
}

// fullestDictionary returns nil if no dictionaries are known.
func fullestDictionary(s measure.Subject) []string {
	if len(s.Dictionaries) == 0 {
		return nil
	}
	fullest := slices.MinFunc(s.Dictionaries, func(a, b measure.Dictionary) int { return cmp.Compare(a.LeastFree*b.Capacity, b.LeastFree*a.Capacity) })
	return []string{fullest.Name, size(fullest.LeastFree) + " of " + size(fullest.Capacity) + " free"}
}

func drainTimes(s measure.Subject) []string {
	w := s.Workers
	lines := []string{"none"}
	if s.WhyNot("workers.drained") != "" {
		lines = []string{notApplicable}
	} else if w.Drained.N > 0 {
		lines = []string{duration(w.Drained.P50) + " / " + duration(w.Drained.Max)}
	}
	if w.Draining > 0 {
		lines = append(lines, count(w.Draining)+" still draining")
	}
	if w.Crashed > 0 {
		lines = append(lines, count(w.Crashed)+" crashed or were killed")
	}
	return lines
}

func validityLines(s measure.Subject) []string {
	if s.Valid {
		return []string{"yes"}
	}
	return []string{"NO, see below"}
}
