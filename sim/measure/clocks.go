package measure

import (
	"cmp"
	"slices"
	"time"

	"windtunnel.dev/sim/event"
)

// MaxClockBound limits how uncertain the time of an event from another machine may be: a fifth of
// MaxLag. Figures of changes need more, see MaxClockShare.
const MaxClockBound = 10 * time.Millisecond

// MaxClockShare limits the uncertainty of the observer's clock, as a share of the median time in
// which a change converges. This time begins with a change, on the harness's clock, and ends with
// an answer, on the observer's.
const MaxClockShare = 0.1

// Clock is the clock of a pod that observed the subject or sent requests to it, over all rounds.
type Clock struct {
	Pod    string          `json:"pod"`
	Node   string          `json:"node"`
	Role   event.ClockRole `json:"role"`   // observer or traffic
	Offset time.Duration   `json:"offset"` // of the node's time of day from that of the harness, as measured last; the times of its events are corrected
	Drift  float64         `json:"drift"`  // in parts per million: the fastest in a round
	Bound  time.Duration   `json:"bound"`  // how far the corrected times may be off: the largest bound of a round
}

// clocks collects the clocks and what is missing, inside and outside of the rounds: events are gathered
// when a round has ended.
type clocks struct {
	byPod map[string]*Clock
	lost  []event.Missing
}

func newClocks(rounds) measurement { return &clocks{byPod: map[string]*Clock{}} }

func (m *clocks) Add(e *event.Event, _ bool) {
	switch {
	case e.Missing != nil:
		m.lost = append(m.lost, *e.Missing)
	case e.Clock != nil:
		c := m.byPod[e.Clock.Pod]
		if c == nil {
			c = &Clock{Pod: e.Clock.Pod, Node: e.Clock.Node, Role: e.Clock.Role}
			m.byPod[c.Pod] = c
		}
		c.Offset, c.Bound = e.Clock.Offset, max(c.Bound, e.Clock.Bound)
		if max(e.Clock.Drift, -e.Clock.Drift) > max(c.Drift, -c.Drift) {
			c.Drift = e.Clock.Drift
		}
	}
}

func (m *clocks) Result(s *Subject, _ *Timeline) {
	for _, c := range m.byPod {
		s.Clocks = append(s.Clocks, *c)
	}
	slices.SortFunc(s.Clocks, func(a, b Clock) int { return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Pod, b.Pod)) })
	s.Missing = m.lost
}
