package measure

import (
	"cmp"
	"slices"
	"time"

	"windtunnel.dev/sim/event"
)

// outage measures the longest stretch without a successful request.
type outage struct {
	rounds rounds
	ends   []sent
}

// sent is one request, at the time when it was meant to be sent.
type sent struct {
	at time.Duration
	ok bool
}

func newOutage(r rounds) measurement { return &outage{rounds: r} }

func (m *outage) Add(e *event.Event, in bool) {
	if in && e.Request != nil && e.Request.Cause != event.OurCancel {
		m.ends = append(m.ends, sent{e.At, e.Request.Cause == ""})
	}
}

func (m *outage) Result(s *Subject, _ *Timeline) {
	slices.SortFunc(m.ends, func(a, b sent) int {
		if a.at == b.at && a.ok != b.ok {
			return map[bool]int{true: 1, false: -1}[a.ok] // a success at the same time ends the stretch
		}
		return cmp.Compare(a.at, b.at)
	})
	failing := none // start of the current stretch
	over := func(at time.Duration) {
		if failing != none {
			s.Outage = max(s.Outage, min(at, m.rounds[m.rounds.at(failing)].End)-failing)
		}
		failing = none
	}
	for _, request := range m.ends {
		if failing != none && m.rounds.at(failing) != m.rounds.at(request.at) {
			over(request.at)
		}
		switch {
		case request.ok:
			over(request.at)
		case failing == none:
			failing = request.at
		}
	}
	over(never)
}
