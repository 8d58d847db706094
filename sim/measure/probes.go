package measure

import "windtunnel.dev/sim/event"

// probes measures the effort to reach every worker, for all rounds together.
type probes struct{ Probe }

func newProbes(rounds) measurement { return &probes{} }

func (m *probes) Add(e *event.Event, in bool) {
	if e.Probe == nil || !in {
		return
	}
	m.Connections += e.Probe.Connections
	m.Workers += e.Probe.Workers
	m.Unreached += e.Probe.Unreached
}

func (m *probes) Result(s *Subject, _ *Timeline) { s.Probe = m.Probe }
