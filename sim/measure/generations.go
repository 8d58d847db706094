package measure

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"windtunnel.dev/sim/event"
)

// generations follows each generation of workers from the start of its first worker to the end of
// its last one, and each single worker.
type generations struct {
	rounds  rounds
	all     map[generation]*history
	newest  map[int]int // generation by master
	workers map[int]*worker
	counted Workers
	drained *durations
}

type history struct {
	History
	alive int
	gone  []time.Duration // when its workers ended
	held  []heldAt        // in order
}

// worker is a live worker.
type worker struct {
	of       generation
	draining time.Duration
}

func newGenerations(r rounds) measurement {
	return &generations{rounds: r, all: map[generation]*history{}, newest: map[int]int{}, workers: map[int]*worker{}, drained: newDurations()}
}

// Add also processes events between rounds, up to the end of the last round: a worker that ended
// between two rounds is not alive in the next one.
func (m *generations) Add(e *event.Event, in bool) {
	if len(m.rounds) == 0 || e.At > m.end() {
		return
	}
	switch {
	case e.Worker != nil && e.Worker.State == event.Exited:
		m.exited(e.Worker, e.At, in)
	case e.Worker != nil:
		m.record(e.Worker, e.At)
	case e.Usage != nil:
		for _, g := range e.Usage.ByGeneration {
			m.addUsage(g, e.At)
		}
	}
}

func (m *generations) end() time.Duration { return m.rounds[len(m.rounds)-1].End }

func (m *generations) record(w *event.Worker, at time.Duration) {
	of := generation{w.Master, w.Generation}
	m.newest[of.master] = max(m.newest[of.master], of.number)
	h := m.all[of]
	if h == nil {
		h = &history{History: History{Master: w.Master, Generation: w.Generation, Began: at, Draining: none, Ended: none, Exits: map[string]int{}}}
		m.all[of] = h
	}
	switch known := m.workers[w.PID]; {
	case known == nil:
		m.workers[w.PID] = &worker{of: of, draining: none}
		h.join()
	case known.of != of:
		m.move(known, of)
	}
	if w.State == event.Draining && m.workers[w.PID].draining == none {
		m.workers[w.PID].draining = at
		if h.Draining == none {
			h.Draining = at
		}
	}
}

func (h *history) join() {
	h.Workers++
	h.alive++
	h.Ended = none
}

// move gives a worker to the generation to which it turned out to belong. A generation that then
// has no workers is removed, because it never existed.
func (m *generations) move(w *worker, to generation) {
	from, h := m.all[w.of], m.all[to]
	h.join()
	h.Began = min(h.Began, from.Began)
	from.alive--
	if from.Workers--; from.Workers == 0 {
		delete(m.all, w.of)
	}
	w.of = to
}

func (m *generations) exited(w *event.Worker, at time.Duration, in bool) {
	known := m.workers[w.PID]
	if known == nil {
		return // it was never seen alive
	}
	delete(m.workers, w.PID)
	h := m.all[known.of]
	h.Exits[describeExit(w.Exit)]++
	h.gone = append(h.gone, at)
	if h.alive--; h.alive == 0 {
		h.Ended = at
	}
	if !in {
		return
	}
	m.counted.Exited++
	crash := crashed(w.Exit) && !(known.draining != none && w.Exit.Signal == finish)
	switch {
	case w.Exit == nil:
		m.counted.Untold++
	case crash:
		m.counted.Crashed++
	}
	switch {
	case known.draining != none:
		m.drained.add(at - known.draining)
	case known.of.number < m.newest[known.of.master] && !crash:
		m.drained.add(0) // it had nothing to finish, and was gone before the next sample
	}
}

// finish is the signal with which each newer process of HAProxy tells the older ones to finish. A
// process that receives it while exiting may be killed by it.
const finish = "SIGUSR1"

func crashed(e *event.Exit) bool { return e != nil && *e != event.Exit{} }

// Untold replaces the exit status of a worker in History.Exits if the status is unknown.
const Untold = "untold"

func describeExit(e *event.Exit) string {
	switch {
	case e == nil:
		return Untold
	case e.Signal != "":
		return e.Signal
	}
	return fmt.Sprintf("code %d", e.Code)
}

func (m *generations) addUsage(g event.Generation, at time.Duration) {
	h := m.all[generation{g.Master, g.Generation}]
	if h == nil {
		return
	}
	h.PeakRSS, h.PeakPSS = max(h.PeakRSS, g.RSS), max(h.PeakPSS, g.PSS)
	if g.Held == nil {
		return
	}
	h.Held.Samples++
	if g.Draining == g.Workers { // otherwise the connections of the other workers are missing
		h.held = append(h.held, heldAt{at, *g.Held})
	}
	if g.Held.Clients+g.Held.Pods > 0 { // otherwise they are about to exit
		h.Held.Clients, h.Held.Pods = g.Held.Clients, g.Held.Pods
	}
}

// Result must run after workers, because it completes the counts of workers.
func (m *generations) Result(s *Subject, _ *Timeline) {
	s.Workers.Exited, s.Workers.Crashed, s.Workers.Untold = m.counted.Exited, m.counted.Crashed, m.counted.Untold
	s.Workers.Drained = m.drained.result()
	for _, w := range m.workers {
		if w.draining != none {
			s.Workers.Draining++
		}
	}
	var drained []*history
	for _, h := range m.all {
		if h.Ended == none || h.Ended >= m.rounds[0].Begin {
			s.Workers.History = append(s.Workers.History, h.History)
		}
		if h.Draining != none && h.Draining >= m.rounds[0].Begin {
			drained = append(drained, h)
		}
	}
	if len(drained) > 0 {
		s.Workers.Left = leftOf(drained, m.end())
	}
	slices.SortFunc(s.Workers.History, func(a, b History) int {
		return cmp.Or(cmp.Compare(a.Began, b.Began), cmp.Compare(a.Master, b.Master), cmp.Compare(a.Generation, b.Generation))
	})
}
