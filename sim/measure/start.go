package measure

import "windtunnel.dev/sim/event"

// starts summarises the starts of the controller. The first start is before the rounds, but it
// counts as well.
type starts struct{ Start }

func newStarts(rounds) measurement { return &starts{} }

func (m *starts) Add(e *event.Event, _ bool) {
	if e.Start == nil {
		return
	}
	m.Count++
	m.Healthy, m.Served = max(m.Healthy, e.Start.Healthy), max(m.Served, e.Start.Served)
	m.Asked += e.Start.Asked
	m.Unserved += e.Start.Unserved
}

func (m *starts) Result(s *Subject, _ *Timeline) { s.Start = m.Start }
