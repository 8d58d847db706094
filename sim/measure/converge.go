package measure

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"windtunnel.dev/sim/event"
)

// converge follows every change from its intent until all workers serve it.
type converge struct {
	rounds    rounds
	spans     activeSpans
	changes   []*watched
	byID      map[int]*watched
	adds      map[string][]*watched // by pod
	removes   map[string][]*watched
	confirmed map[string][]*watched // changes with a confirmation, by host and path
	gaps      *durations
	twice     []string
}

// watched is a change, and what each worker showed about it.
type watched struct {
	*event.Change
	at        time.Duration
	end       time.Duration // of its round
	undone    time.Duration // when a later change intended to undo it
	failed    bool
	refusal   string // why the API refused it
	sightings map[int]*sighting
	between   between
}

func newConverge(r rounds) measurement {
	return &converge{
		rounds: r, spans: activeSpans{}, byID: map[int]*watched{}, gaps: newDurations(),
		adds: map[string][]*watched{}, removes: map[string][]*watched{}, confirmed: map[string][]*watched{},
	}
}

func (m *converge) Add(e *event.Event, in bool) {
	switch {
	case e.Worker != nil:
		m.spans.setState(*e.Worker, e.At)
	case e.Change != nil && in:
		m.change(e.Change, e.At)
	case e.Written != nil && e.Written.Error != "":
		// The write may end after the round. It belongs to the change, wherever the change is.
		if w := m.byID[e.Written.Change]; w != nil {
			w.failed, w.refusal = true, e.Written.Error
		}
	case e.Answer != nil:
		m.answer(e.Answer, e.At)
	}
}

func (m *converge) change(c *event.Change, at time.Duration) {
	if m.byID[c.ID] != nil {
		m.twice = append(m.twice, fmt.Sprintf("change %d is in the log twice; the first counts", c.ID))
		return
	}
	w := &watched{Change: c, at: at, end: m.rounds[m.rounds.at(at)].End, undone: never, sightings: map[int]*sighting{}}
	m.byID[c.ID] = w
	m.changes = append(m.changes, w)
	if c.Confirmation != nil {
		m.confirmed[c.Host+c.Path] = append(m.confirmed[c.Host+c.Path], w)
	}
	for _, pod := range c.Added {
		m.adds[pod] = append(m.adds[pod], w)
	}
	for _, pod := range c.Removed {
		m.removes[pod] = append(m.removes[pod], w)
	}
}

func (m *converge) answer(a *event.Answer, at time.Duration) {
	m.spans.addAnswer(a.Worker, at)
	w := m.byID[a.Change]
	if w == nil || at < w.at || at > w.end {
		return
	}
	s := w.sightings[a.Worker]
	if s == nil {
		s = newSighting()
		w.sightings[a.Worker] = s
	}
	if gap := s.probe(at); gap != none {
		m.gaps.add(gap)
	}
	if at <= m.undoneAt(w) { // later answers say nothing about the change
		w.between.add(w.Change, a, at)
		s.add(w.Change, a, at)
	}
}

func (m *converge) Result(s *Subject, t *Timeline) {
	slices.SortStableFunc(m.changes, func(a, b *watched) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.ID, b.ID))
	})
	first, last, between := newDurations(), newDurations(), newDurations()
	for _, w := range m.changes {
		w.undone = m.undoneAt(w)
		served := w.result(m.spans)
		if served.First != none {
			first.add(served.First)
		}
		if served.Last != none {
			last.add(served.Last)
		}
		if took := w.between.duration(min(w.end, w.undone)); took != none && !w.failed {
			between.add(took)
		}
		s.Changes.count(served.Fate)
		s.Converge.Flaps += served.Flaps
		t.Changes = append(t.Changes, served)
	}
	s.Converge.First, s.Converge.Last, s.Converge.Granularity = first.result(), last.result(), m.gaps.result()
	s.Converge.Between = between.result()
	s.Trouble = append(s.Trouble, m.twice...)
}

// undoneAt returns when a later change first intended to undo w: to remove a pod that w added, to
// add a pod that w removed, or to change what w's host and path show. It returns never if there is
// no such change.
func (m *converge) undoneAt(w *watched) time.Duration {
	at := never
	search := func(others []*watched) {
		for _, other := range slices.Backward(others) {
			if other.at < w.at {
				return // others are in order
			}
			later := other.at > w.at || other.at == w.at && other.ID > w.ID
			if later && !other.failed && other.at <= w.end {
				at = min(at, other.at)
			}
		}
	}
	for _, pod := range w.Added {
		search(m.removes[pod])
	}
	for _, pod := range w.Removed {
		search(m.adds[pod])
	}
	if w.Confirmation != nil {
		search(m.confirmed[w.Host+w.Path])
	}
	return at
}

// result returns the outcome of the change, given the active spans of all workers.
func (w *watched) result(spans activeSpans) Served {
	served := Served{ID: w.ID, At: w.at, Step: w.Step, Object: w.Object, First: none, Last: none}
	first, last, all := w.times(spans)
	for _, s := range w.sightings {
		served.Flaps += s.flaps
	}
	if first != none {
		served.First = first - w.at
	}
	switch {
	case w.failed:
		served.Fate, served.First, served.Error = Failed, none, w.refusal
	case len(w.Added)+len(w.Removed) == 0 && w.Confirmation == nil, w.Host == "" && len(w.sightings) == 0:
		served.Fate, served.First = Unwatched, none
	case all && last <= w.undone:
		served.Fate, served.Last = Converged, last-w.at
	case w.undone != never:
		served.Fate = Superseded
	default:
		served.Fate = Unconverged
	}
	return served
}

// times returns when the first worker and the last worker began to serve the change, and whether
// all required workers did.
//
// Required are the workers that are active at the end: when the round ends, or when a later change
// undoes this one. A worker that began after another worker already served the change, and that was
// never asked, is not required: it gives no information, and it started from a newer state. A
// worker that left earlier need not have served the change, but its old answers count. (The log may
// report that a worker drains a little after the probe knew it, so the time of the last probe
// cannot serve as the end.)
//
// Where nobody knows which worker gave an answer, all answers count as those of one worker.
func (w *watched) times(spans activeSpans) (first, last time.Duration, all bool) {
	first, last = none, none
	for _, s := range w.sightings {
		if at := s.served(w.Change); at != none && (first == none || at < first) {
			first = at
		}
	}
	all = first != none
	end := min(w.end, w.undone)
	if s := w.sightings[event.SomeWorker]; s != nil {
		return first, max(first, s.served(w.Change)), all
	}
	for pid, l := range spans {
		s := w.sightings[pid]
		has := l.activeAt(end)
		switch {
		case s == nil:
			all = all && !(has && l.active <= first)
		case s.served(w.Change) != none:
			last = max(last, s.served(w.Change))
		case has:
			all = false
		default:
			last = max(last, s.stale)
		}
	}
	return first, max(first, last), all
}

// watched returns the number of changes whose outcome the probes were to observe.
func (c *Changes) watched() int { return c.Made - c.Failed - c.Unwatched }

func (c *Changes) count(fate Fate) {
	c.Made++
	switch fate {
	case Failed:
		c.Failed++
	case Converged:
		c.Converged++
	case Superseded:
		c.Superseded++
	case Unconverged:
		c.Unconverged++
	case Unwatched:
		c.Unwatched++
	}
}
