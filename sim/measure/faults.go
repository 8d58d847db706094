package measure

import "windtunnel.dev/sim/event"

// faults are the times in which something was broken on purpose.
type faults struct {
	rounds rounds
	spans  []Broken
}

func newFaults(r rounds) measurement { return &faults{rounds: r} }

func (m *faults) Add(e event.Event, in bool) {
	switch {
	case e.Fault == nil:
	case !e.Fault.Healed && in:
		m.spans = append(m.spans, Broken{Name: e.Fault.Name, From: e.At, Until: m.rounds[m.rounds.at(e.At)].End})
	case e.Fault.Healed:
		for i := range m.spans {
			if s := &m.spans[i]; s.Name == e.Fault.Name && !s.healed && e.At >= s.From {
				s.Until, s.healed = min(s.Until, e.At), true
				return
			}
		}
	}
}

func (m *faults) Result(s *Subject, t *Timeline) {
	s.Faults = len(m.spans)
	t.Faults = m.spans
}
