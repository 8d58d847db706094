package measure

import (
	"slices"

	"windtunnel.dev/sim/event"
)

// faults are the times in which something was broken on purpose.
type faults struct {
	rounds rounds
	spans  []Broken
}

func newFaults(r rounds) measurement { return &faults{rounds: r} }

func (m *faults) Add(e event.Event, in bool) {
	if e.Fault == nil {
		return
	}
	open := slices.IndexFunc(m.spans, func(s Broken) bool { return s.Name == e.Fault.Name && !s.healed && e.At >= s.From })
	switch ends := e.Fault.Healed || e.Fault.Failed; {
	case !ends && in:
		m.spans = append(m.spans, Broken{Name: e.Fault.Name, From: e.At, Until: m.rounds[m.rounds.at(e.At)].End})
	case !ends || open < 0:
	case e.Fault.Failed:
		m.spans = slices.Delete(m.spans, open, open+1)
	default:
		m.spans[open].Until, m.spans[open].healed = min(m.spans[open].Until, e.At), true
	}
}

func (m *faults) Result(s *Subject, t *Timeline) {
	s.Faults = len(m.spans)
	t.Faults = m.spans
}
