package measure

import (
	"cmp"
	"fmt"
	"time"

	"windtunnel.dev/sim/event"
)

// The bounds beyond which a run says nothing about its subject.
const (
	// MaxLag bounds the generator's lag at the 99th percentile of each lane. Latency counts
	// from the intended send time, so lag is part of it; and the shortest thing
	// a reload does to clients is the roughly 100 ms in which old and new
	// workers both accept. Half of that still shows it.
	MaxLag = 50 * time.Millisecond
	// MaxStolen bounds the mean share of CPU time that a hypervisor took. Five
	// per cent is a twentieth of every figure of time.
	MaxStolen = 0.05
	// MaxGranularity bounds the gap between two looks of a probe at the 99th
	// percentile, unless the scenario has another bound: a quarter of the second in
	// which ingress-nginx's workers read their backends anew, the slowest step of a
	// dynamic update.
	MaxGranularity = 250 * time.Millisecond
)

// wasCut is why a run that was interrupted is void.
const wasCut = "the run was interrupted before its end"

// validity judges the run, not the subject.
type validity struct {
	rounds  rounds
	cut     bool
	stolen  float64
	samples int
	workers int
	gap     time.Duration // the bound of gaps
}

func newValidity(r rounds) measurement { return &validity{rounds: r, gap: MaxGranularity} }

func (m *validity) Add(e event.Event, in bool) {
	switch {
	case e.Run != nil:
		m.gap = cmp.Or(e.Run.Granularity, m.gap)
	case e.Phase != nil && e.Phase.Name == event.Cut:
		m.cut = true
	case e.Host != nil && in:
		m.stolen += e.Host.Stolen
		m.samples++
	case e.Worker != nil:
		m.workers++
	}
}

func (m *validity) Result(s *Subject, _ *Timeline) {
	void := func(when bool, format string, args ...any) {
		if when {
			s.Invalid = append(s.Invalid, fmt.Sprintf(format, args...))
		}
	}
	r, c := s.Requests, s.Converge
	stolen := m.stolen / float64(max(m.samples, 1))
	dialing := r.Causes[string(event.OurDialing)]

	void(m.cut, wasCut)
	void(len(m.rounds) == 0, "no round was measured")
	void(r.Sent == 0, "no requests were sent in its rounds")
	for _, lane := range s.Lanes { // each alone: one that lags hides among the many requests of another
		void(lane.Lag.P99 > MaxLag, "the load generator lagged in lane %s: p99 %v late, at most %v is sound", lane.Name, lane.Lag.P99, MaxLag)
	}
	void(dialing > 0, "the load generator could not open sockets for %s", plural(dialing, "request"))
	void(r.Unexplained > 0, "%s failed for causes that are not known", plural(r.Unexplained, "request"))
	void(stolen > MaxStolen, "the host was starved: %.1f %% of its CPU time was stolen, at most %.0f %% is sound", 100*stolen, 100*MaxStolen)
	void(m.workers == 0, "no nginx worker was seen")
	void(s.Changes.Failed > 0, "the API refused %s", plural(s.Changes.Failed, "change"))
	void(c.Granularity.P99 > m.gap, "the probes looked too seldom: gaps of p99 %v, at most %v is sound", c.Granularity.P99, m.gap)
	void(c.Last.N > 0 && c.Granularity.P99 > c.Last.P50,
		"the probes are coarser than what they measure: gaps of p99 %v, last convergence of p50 %v", c.Granularity.P99, c.Last.P50)
	s.Valid = len(s.Invalid) == 0
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
