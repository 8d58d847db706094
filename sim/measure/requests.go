package measure

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/event"
)

// Causes are the causes of failure that count against a subject or, for our-dialing, make its run
// void. our-cancel is not one of them: such a request was neither sent nor failed.
var Causes = []event.Cause{
	event.IdleClose, event.Reset, event.Refused, event.EOF, event.Truncated, event.StreamCut, event.Corrupted, event.Timeout,
	event.NginxError, event.PodError, event.NotFound, event.NginxOther, event.PodOther, event.AnyError, event.AnyOther, event.WrongPod, event.GonePod, event.Handshake, event.WrongCert,
	event.OurDialing, event.Unknown,
}

// requests counts the requests that were meant to be sent in the rounds, in total and per lane.
type requests struct {
	all    *tally
	byLane map[string]*tally
	left   map[string]time.Duration // pods that changes have removed from their services, and the time of the intent
}

// tally counts a set of requests.
type tally struct {
	Requests
	latency, lasted, lag, stale *durations
}

func newTally() *tally {
	return &tally{
		Requests: Requests{Causes: map[string]int{}},
		latency:  newDurations(), lasted: newDurations(), lag: newDurations(), stale: newDurations(),
	}
}

func newRequests(rounds) measurement {
	return &requests{all: newTally(), byLane: map[string]*tally{}, left: map[string]time.Duration{}}
}

func (m *requests) Add(e *event.Event, in bool) {
	switch {
	case e.Change != nil:
		m.change(e.Change, e.At)
	case e.Load != nil: // of the round that has just ended
		m.all.load(*e.Load)
		m.lane(e.Load.Lane).load(*e.Load)
	case !in:
	case e.Request != nil && e.Request.Cause == event.OurCancel:
		if e.Request.Lasts == 0 {
			m.all.Unanswered++
			m.lane(e.Request.Lane).Unanswered++
		}
	case e.Request != nil:
		stale := m.stale(e.Request, e.At)
		m.all.request(e.Request, stale)
		m.lane(e.Request.Lane).request(e.Request, stale)
	case e.Socket != nil && e.Socket.Opened:
		m.all.Sockets++
		m.lane(e.Socket.Lane).Sockets++
	}
}

func (m *requests) lane(name string) *tally {
	if m.byLane[name] == nil {
		m.byLane[name] = newTally()
	}
	return m.byLane[name]
}

// change records which pods must no longer serve.
func (m *requests) change(c *event.Change, at time.Duration) {
	for _, pod := range c.Removed {
		m.left[pod] = at
	}
	for _, pod := range c.Added {
		delete(m.left, pod)
	}
}

// stale returns the time from the intent of the change that removed the responding pod from its
// service until the request was sent; none if no change removed it.
func (m *requests) stale(r *event.Request, due time.Duration) time.Duration {
	left, ok := m.left[r.Pod]
	if sent := due + r.Lag; ok && sent > left {
		return sent - left
	}
	return none
}

// answered reports whether a request got an answer. That of a protocol without a status, such as UDP,
// names its pod.
func answered(r *event.Request) bool { return r.Status != 0 || r.Pod != "" }

func (t *tally) load(l event.Load) {
	t.Due += l.Due
	t.Missed += l.Missed
}

func (t *tally) request(r *event.Request, stale time.Duration) {
	t.Sent++
	t.Retries += r.Retries
	t.lag.add(r.Lag)
	switch {
	case answered(r) && r.Lasts == 0:
		t.latency.add(r.Lag + r.Took)
	case r.Lasts != 0 && r.Cause == "":
		t.lasted.add(r.Lag + r.Took)
	}
	if stale != none {
		t.stale.add(stale)
	}
	if r.Cause == "" {
		return
	}
	t.Failed++
	t.Causes[string(r.Cause)]++
	if r.Cause == event.Unknown || !slices.Contains(Causes, r.Cause) {
		t.Unexplained++
	}
}

func (m *requests) Result(s *Subject, _ *Timeline) {
	s.Requests = m.all.result()
	for name, t := range m.byLane {
		s.Lanes = append(s.Lanes, Lane{Name: name, Requests: t.result(), Lasted: t.lasted.result()})
	}
	slices.SortFunc(s.Lanes, func(a, b Lane) int { return strings.Compare(a.Name, b.Name) })
	for _, lane := range s.Lanes {
		if lane.Missed > 0 {
			s.Trouble = append(s.Trouble, fmt.Sprintf("traffic of lane %s: %d of %s due never sent: the generator fell behind", lane.Name, lane.Missed, plural.Of(lane.Due, "request")))
		}
	}
}

func (t *tally) result() Requests {
	r := t.Requests
	r.Bound = failureBound(r.Failed, r.Sent)
	r.Latency, r.Lag, r.Stale = t.latency.result(), t.lag.result(), t.stale.result()
	return r
}

// failureBound returns the observed failure rate. If none of n requests failed, it returns the
// upper end of the 95 % confidence interval: the rule of three, 3/n. If no request was sent, it
// returns 1, because nothing is known.
func failureBound(failed, n int) float64 {
	switch {
	case n == 0:
		return 1
	case failed == 0:
		return min(1, 3/float64(n))
	}
	return float64(failed) / float64(n)
}
