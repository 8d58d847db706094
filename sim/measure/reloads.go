package measure

import "windtunnel.dev/sim/event"

// generation identifies a set of workers. Each master numbers its own generations.
type generation struct{ master, number int }

// reloads counts the generations that appeared in the rounds. The first generation in the log does
// not count, because it was already running.
type reloads struct {
	known map[generation]bool
	seen  []Reload
}

func newReloads(rounds) measurement { return &reloads{known: map[generation]bool{}} }

func (m *reloads) Add(e event.Event, in bool) {
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
	s.Reloads = len(m.seen)
	t.Reloads = m.seen
}
