package measure

import (
	"slices"
	"time"

	"windtunnel.dev/sim/event"
)

// settling follows the changes of rounds that are not over. A change settles when every worker
// serves it, when the API refuses it, when a later change undoes it, or at the end of its round.
// Later answers of its workers no longer count, so the effort does not grow with the number of
// changes.
type settling struct {
	*converge                              // of the changes that have not settled
	made                   int             // changes so far
	final                  int             // of them, those that settled and that workers had to serve
	first, every           *durations      // of those that settled
	firstTimes, everyTimes []time.Duration // likewise, sorted
}

func newSettling() *settling {
	return &settling{converge: newConverge(nil).(*converge), first: newDurations(), every: newDurations()}
}

// settle settles all changes that can be settled. The open round ends now.
func (s *settling) settle(now time.Duration) {
	pending := s.changes[:0]
	for _, w := range s.changes {
		if !s.settles(w, now) {
			pending = append(pending, w)
		}
	}
	clear(s.changes[len(pending):])
	s.changes = pending
}

// settles reports whether a change has settled, and if so counts it.
func (s *settling) settles(w *watched, now time.Duration) bool {
	end := w.end
	w.end = min(end, now)
	w.undone = s.undoneAt(w)
	served := w.result(s.spans)
	w.end = end
	if end == never && (served.Fate == Unconverged || served.Fate == Unwatched) {
		return false
	}
	if served.Fate != Unwatched && served.Fate != Failed {
		s.final++
	}
	if served.First != none {
		s.first.add(served.First)
		s.firstTimes = inserted(s.firstTimes, served.First)
	}
	if served.Last != none {
		s.every.add(served.Last)
		s.everyTimes = inserted(s.everyTimes, served.Last)
	}
	w.sightings = map[int]*sighting{}
	delete(s.byID, w.ID)
	return true
}

// inserted returns sorted times with d inserted.
func inserted(sorted []time.Duration, d time.Duration) []time.Duration {
	i, _ := slices.BinarySearch(sorted, d)
	return slices.Insert(sorted, i, d)
}

// waiting returns the number of changes that workers have to serve, and that have not settled.
func (s *settling) waiting() (n int) {
	for _, w := range s.changes {
		if len(w.Added)+len(w.Removed) > 0 || w.Confirmation != nil {
			n++
		}
	}
	return n
}

// Add counts the changes.
func (s *settling) Add(e *event.Event, in bool) {
	if e.Change != nil && in {
		s.made++
	}
	s.converge.Add(e, in)
}

// endRound ends the open round.
func (s *settling) endRound(at time.Duration) {
	for _, w := range s.changes {
		w.end = min(w.end, at)
	}
}
