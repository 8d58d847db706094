package measure

import (
	"slices"

	"windtunnel.dev/sim/event"
)

// workers counts nginx's worker processes and their generations.
type workers struct {
	rounds      rounds
	live        liveWorkers
	seen        map[generation]bool // in the rounds
	alive, most int
	first, last []int
}

func newWorkers(r rounds) measurement {
	return &workers{rounds: r, live: liveWorkers{}, seen: map[generation]bool{}}
}

func (m *workers) Add(e *event.Event, in bool) {
	if e.Worker != nil {
		m.live.update(*e.Worker)
	}
	begins := e.Phase != nil && e.Phase.Name == event.RoundBegin
	if !in || e.Worker == nil && !begins {
		return
	}
	for _, member := range m.live {
		m.seen[member.generation] = true
	}
	m.alive = max(m.alive, m.live.generations())
	m.most = max(m.most, len(m.live))
	m.last = m.live.active()
	if e.At == m.rounds[0].Begin {
		m.first = m.last
	}
}

func (m *workers) Result(s *Subject, _ *Timeline) {
	s.Workers = Workers{Generations: len(m.seen), Alive: m.alive, Most: m.most, First: m.first, Last: m.last}
	for _, pid := range m.first {
		if !slices.Contains(m.last, pid) {
			s.Workers.Replaced++
		}
	}
}
