package measure

import "windtunnel.dev/sim/event"

// memory keeps the peaks.
type memory struct{ peak Memory }

func newMemory(rounds) measurement { return &memory{} }

func (m *memory) Add(e event.Event, in bool) {
	if e.Usage == nil || !in {
		return
	}
	m.peak.PeakRSS = max(m.peak.PeakRSS, e.Usage.NginxRSS)
	m.peak.PeakPSS = max(m.peak.PeakPSS, e.Usage.NginxPSS)
}

func (m *memory) Result(s *Subject, _ *Timeline) { s.Memory = m.peak }
