package measure

import "windtunnel.dev/sim/event"

// generation identifies a set of workers. Each master numbers its own generations.
type generation struct{ master, number int }

// reloads counts the generations that appeared in the rounds. The first generation in the log does
// not count, because it was already running. Where no worker is seen, controllers may count their
// reloads themselves.
type reloads struct {
	known   map[generation]bool
	seen    []Reload
	counted counters
}

func newReloads(rounds) measurement {
	return &reloads{known: map[generation]bool{}, counted: counters{}}
}

func (m *reloads) Add(e event.Event, in bool) {
	if e.Scrape != nil {
		m.counted.add(e.Scrape, e.At, in)
	}
	if e.Worker == nil {
		return
	}
	g := generation{e.Worker.Master, e.Worker.Generation}
	isNew := !m.known[g] && len(m.known) > 0
	m.known[g] = true
	if isNew && in {
		m.seen = append(m.seen, Reload{e.At, g.number})
	}
}

func (m *reloads) Result(s *Subject, t *Timeline) {
	if len(m.known) == 0 {
		m.seen = m.counted.reloads()
	}
	s.Reloads = len(m.seen)
	t.Reloads = m.seen
}
