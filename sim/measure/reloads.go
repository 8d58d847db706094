package measure

import "windtunnel.dev/sim/event"

// generation identifies a set of workers. Each master numbers its own generations.
type generation struct{ master, number int }

// reloads counts the generations that appeared in the rounds. The first generation in the log does
// not count, because it was already running, and neither does that of each further pod. Where no worker
// is seen, controllers may count their reloads themselves.
type reloads struct {
	known   map[generation]bool
	pods    map[string]bool // whose generations are known
	seen    []Reload
	counted counters
}

func newReloads(rounds) measurement {
	return &reloads{known: map[generation]bool{}, pods: map[string]bool{}, counted: counters{}}
}

func (m *reloads) Add(e *event.Event, in bool) {
	if e.Scrape != nil {
		m.counted.add(e.Scrape, e.At, in)
	}
	if e.Worker == nil {
		return
	}
	g := generation{e.Worker.Master, e.Worker.Generation}
	isNew := !m.known[g] && m.pods[e.Worker.Pod]
	m.known[g], m.pods[e.Worker.Pod] = true, true
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
