package measure

import (
	"time"

	"windtunnel.dev/sim/event"
)

// memory keeps the peaks, and the samples nearest to the beginning and the end of the measured
// time. These may be outside the rounds; they count for the peaks as well, so that no shown value exceeds
// its peak.
type memory struct {
	rounds   rounds
	memory   Memory
	rss, pss edges
}

func newMemory(r rounds) measurement {
	m := &memory{rounds: r}
	m.rss, m.pss = edgesOf(r), edgesOf(r)
	return m
}

func (m *memory) Add(e *event.Event, in bool) {
	if e.Usage == nil {
		return
	}
	m.rss.add(e.At, e.Usage.NginxRSS)
	if e.Usage.NginxPSS > 0 {
		m.pss.add(e.At, e.Usage.NginxPSS)
	}
	if in {
		m.memory.PeakRSS = max(m.memory.PeakRSS, e.Usage.NginxRSS)
		m.memory.PeakPSS = max(m.memory.PeakPSS, e.Usage.NginxPSS)
	}
}

func (m *memory) Result(s *Subject, _ *Timeline) {
	s.Memory = m.memory
	s.Memory.StartRSS, s.Memory.EndRSS = m.rss.from.value, m.rss.to.value
	s.Memory.StartPSS, s.Memory.EndPSS = m.pss.from.value, m.pss.to.value
	s.Memory.PeakRSS = max(s.Memory.PeakRSS, s.Memory.StartRSS, s.Memory.EndRSS)
	s.Memory.PeakPSS = max(s.Memory.PeakPSS, s.Memory.StartPSS, s.Memory.EndPSS)
	if s.Memory.StartRSS > 0 {
		s.Memory.Growth = float64(s.Memory.EndRSS) / float64(s.Memory.StartRSS)
	}
}

// edges are the values nearest to two times.
type edges struct{ from, to edge }

type edge struct{ at, off, value int64 }

// edgesOf returns the edges of the measured time.
func edgesOf(r rounds) edges {
	if len(r) == 0 {
		return edges{}
	}
	return newEdges(r[0].Begin, r[len(r)-1].End)
}

func newEdges(from, to time.Duration) edges {
	return edges{edge{at: int64(from), off: int64(never)}, edge{at: int64(to), off: int64(never)}}
}

func (e *edges) add(at time.Duration, value int64) {
	e.from.add(int64(at), value)
	e.to.add(int64(at), value)
}

// add processes a value. Among values that are equally near, the largest one counts, so their order
// does not matter.
func (e *edge) add(at, value int64) {
	off := max(at-e.at, e.at-at)
	if off < e.off || off == e.off && value > e.value {
		e.off, e.value = off, value
	}
}
