package measure

import (
	"cmp"
	"fmt"
	"time"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/event"
)

// Bounds beyond which a run is not conclusive for its subject.
const (
	// MaxLag limits the generator's lag at the 99th percentile of each lane. Latency counts from
	// the intended send time, so it includes the lag. The shortest effect of a reload on clients is
	// the period of about 100 ms in which old and new workers both accept connections. Half of that
	// period still shows it.
	MaxLag = 50 * time.Millisecond
	// MaxStolen limits the mean share of CPU time that a hypervisor took. At this bound, about a
	// twentieth of each measured time is not due to the subject.
	MaxStolen = 0.05
	// MaxGranularity limits the gap between two probes of the same worker at the 99th percentile,
	// unless the scenario has another bound. It is a quarter of the second after which
	// ingress-nginx's workers read their backends again, the slowest step of a dynamic update.
	MaxGranularity = 250 * time.Millisecond
	// MaxMissed limits the share of a lane's due requests that were never sent. Their lag is
	// unbounded, so they belong above its 99th percentile.
	MaxMissed = 0.01
	// MaxUnanswered limits the share of a lane's due requests without a response when the end of
	// the round cut them off. Without this bound, a subject that hangs would not look worse.
	MaxUnanswered = 0.01
	// longEnough is the measured time after which there must be a sample of the host, because
	// samples are taken once per second.
	longEnough = 5 * time.Second
)

// wasCut is the reason why an interrupted run is void.
const wasCut = "the run was interrupted before its end"

// validity judges the run, not the subject.
type validity struct {
	rounds  rounds
	cut     bool
	open    bool // a round has begun and has not ended
	running bool // the subject is ready and has not stopped
	ended   bool // a round has ended since the host was sampled
	stolen  float64
	samples int
	dropped int // packets
	workers int
	answers int           // of probes, in rounds
	off     string        // why probing stopped
	gap     time.Duration // the bound for gaps
}

func newValidity(r rounds) measurement { return &validity{rounds: r, gap: MaxGranularity} }

func (m *validity) Add(e *event.Event, in bool) {
	switch {
	case e.Run != nil:
		m.gap = cmp.Or(e.Run.Granularity, m.gap)
	case e.Phase != nil:
		m.phase(e.Phase.Name)
	case e.Host != nil:
		m.host(e.Host, in)
	case e.Worker != nil:
		m.workers++
	case e.Answer != nil && in:
		m.answers++
	case e.Probe != nil && e.Probe.Off != "":
		m.off = e.Probe.Off
	}
}

func (m *validity) host(h *event.Host, in bool) {
	if in {
		m.stolen += h.Stolen
		m.samples++
	}
	if in || m.ended { // the sample covers the end of a round
		m.dropped += h.Dropped
	}
	m.ended = false
}

func (m *validity) phase(name event.PhaseName) {
	switch name {
	case event.Cut:
		m.cut = true
	case event.Ready:
		m.running = true
	case event.Stopped:
		m.running = false
	case event.RoundBegin:
		m.open = true
	case event.RoundEnd:
		m.open, m.ended = false, true
	}
}

func (m *validity) Result(s *Subject, t *Timeline) {
	void := func(when bool, format string, args ...any) {
		if when {
			s.Invalid = append(s.Invalid, fmt.Sprintf(format, args...))
		}
	}
	r, c := s.Requests, s.Converge
	stolen := m.stolen / float64(max(m.samples, 1))
	dialing := r.Causes[string(event.OurDialing)]

	void(m.cut, wasCut)
	void(m.open && !m.cut, "the log ends in the middle of a round: the run was killed")
	void(m.running && !m.open && !m.cut, "the log ends before the subject stopped: the run was killed")
	void(len(m.rounds) == 0, "no round was measured")
	void(r.Sent == 0 && s.WhyNot("requests") == "", "no requests were sent in its rounds")
	for _, lane := range s.Lanes { // separately: the requests of other lanes could hide a lane that lags
		void(lane.Sent == 0 && r.Sent > 0, "no request of lane %s finished before its rounds ended", lane.Name)
		void(float64(lane.Missed) > MaxMissed*float64(lane.Due), "the load generator never sent %d of %s due in lane %s; at most %.0f %% is acceptable",
			lane.Missed, plural.Of(lane.Due, "request"), lane.Name, 100*MaxMissed)
		void(lane.Lag.P99 > MaxLag, "the load generator lagged in lane %s: p99 %v late, at most %v is acceptable", lane.Name, lane.Lag.P99, MaxLag)
	}
	for _, lane := range s.Lanes {
		void(lane.Due > 0 && float64(lane.Unanswered) > MaxUnanswered*float64(lane.Due), "%d of %s due in lane %s had no answer when their round ended; at most %.0f %% is acceptable",
			lane.Unanswered, plural.Of(lane.Due, "request"), lane.Name, 100*MaxUnanswered)
	}
	void(dialing > 0, "the load generator could not open sockets for %s", plural.Of(dialing, "request"))
	void(r.Unexplained > 0, "%s failed for unknown causes", plural.Of(r.Unexplained, "request"))
	void(stolen > MaxStolen, "the host was starved: %.1f %% of its CPU time was stolen, at most %.0f %% is acceptable", 100*stolen, 100*MaxStolen)
	void(m.dropped > 0, "connection tracking in the host's kernel dropped %s: exempt loopback from it, or raise net.netfilter.nf_conntrack_max (see windtunnel doctor)", plural.Of(m.dropped, "packet"))
	void(m.samples == 0 && s.Measured >= longEnough, "the load of the host was not recorded")
	void(m.workers == 0 && s.WhyNot("workers") == "", "no worker was observed")
	for _, f := range s.Struck {
		void(f.Missed > 0, "the fault %s struck no %s in %d of %s, although the subject was running", f.Name, f.Of, f.Missed, plural.Of(f.Times, "time"))
		void(f.Failed > 0, "the fault %s could not be injected, %d of %s", f.Name, f.Failed, plural.Of(f.Times, "time"))
		void(f.Untold > 0 && f.Of != "", "the log does not show what the fault %s struck, %d of %s", f.Name, f.Untold, plural.Of(f.Times, "time"))
		void(f.Absent == f.Times, "the fault %s never struck: the subject was not running", f.Name)
	}
	void(m.off != "", "the probes stopped: %s", m.off)
	void(s.Changes.watched() > 0 && m.answers == 0, "the probes never checked %s", plural.Of(s.Changes.watched(), "change"))
	void(s.Probe.Unreached > 0, "the probes had no connection to %s at the end of a round", plural.Of(s.Probe.Unreached, "worker"))
	void(s.Changes.Failed > 0, "the API refused %s", refused(t.Changes))
	void(c.Granularity.P99 > m.gap, "the probes polled too rarely: gaps of p99 %v, at most %v is acceptable", c.Granularity.P99, m.gap)
	// A time is too long by one gap at most, and a rare gap does not move a median.
	for _, at := range []struct {
		quantile  string
		gap, last time.Duration
	}{{"p50", c.Granularity.P50, c.Last.P50}, {"p99", c.Granularity.P99, c.Last.P99}} {
		if c.Last.N > 0 && at.gap > at.last {
			void(true, "the probes are coarser than what they measure: gaps of %s %v, last convergence of %[1]s %[3]v", at.quantile, at.gap, at.last)
			break
		}
	}
	for _, one := range s.Missing {
		void(true, "there is no record of the %s: %s", one.What, one.Why)
	}
	for _, k := range s.Clocks {
		void(k.Bound > MaxClockBound, "the clock of node %s (pod %s) is known only to within %v, at most %v is acceptable", k.Node, k.Pod, k.Bound, MaxClockBound)
		void(k.Role == event.ObserverClock && c.Last.N > 0 && float64(k.Bound) > MaxClockShare*float64(c.Last.P50),
			"the clock of node %s (pod %s) is known only to within %v, and half of the changes converged within %v; at most %.0f %% of that is acceptable", k.Node, k.Pod, k.Bound, c.Last.P50, 100*MaxClockShare)
	}
	s.Valid = len(s.Invalid) == 0
}

// WhyInvalid returns the first reason why the run of the subject is void.
func (s Subject) WhyInvalid() string {
	if len(s.Invalid) == 0 {
		return "its result gives no reason"
	}
	return s.Invalid[0]
}

// refused describes how many changes the API refused, and the first of them with the reason.
func refused(changes []Served) string {
	var failed []Served
	for _, c := range changes {
		if c.Fate == Failed {
			failed = append(failed, c)
		}
	}
	if len(failed) == 0 {
		return "no change"
	}
	first := failed[0]
	return fmt.Sprintf("%s, first that of %s (change %d, %s): %s", plural.Of(len(failed), "change"), first.Object, first.ID, first.Step, first.Error)
}
