package measure

import (
	"slices"
	"time"

	"windtunnel.dev/sim/event"
)

// sighting is what one worker showed of one change.
type sighting struct {
	looked    time.Duration // when it was last asked
	fresh     time.Duration // its first answer from the new state
	stale     time.Duration // its last answer from the old state
	freshened time.Duration // its first answer from the new state after the last from the old
	flaps     int
}

// none is the time of what was not seen.
const none time.Duration = -1

func newSighting() *sighting {
	return &sighting{looked: none, fresh: none, stale: none, freshened: none}
}

// see takes an answer; answers come in the order of At. It tells the gap since
// the look before, none if this is the first. Answers of one moment may come in
// any order.
func (s *sighting) see(c *event.Change, a *event.Answer, at time.Duration) (gap time.Duration) {
	gap = none
	if s.looked != none {
		gap = at - s.looked
	}
	s.looked = at
	switch {
	case isStale(c, a):
		s.stale = at
		if s.freshened < at {
			s.freshened = none
		}
		// Without a new pod an answer of another one shows only that the
		// worker chose it, so there is nothing to fall back from.
		if (len(c.Added) > 0 || c.See != nil) && s.fresh != none && s.fresh < at {
			s.flaps++
		}
	case isFresh(c, a):
		if s.fresh == none {
			s.fresh = at
		}
		if s.freshened == none {
			s.freshened = at
		}
	}
	return gap
}

// served is when the worker came to serve the change for good, none if it did
// not. A new pod proves the new state, even where an old one answers once more
// after it. Where pods only went, each answer by another is merely a chance
// that the old one took no part: the first after its last answer counts.
func (s *sighting) served(c *event.Change) time.Duration {
	if len(c.Added) == 0 {
		return s.freshened
	}
	if s.fresh == none {
		return none
	}
	return max(s.fresh, s.stale)
}

func isStale(c *event.Change, a *event.Answer) bool {
	if c.See != nil {
		return a.Status != 0 && !c.See.By(a.Served, a.Status)
	}
	return a.Pod != "" && slices.Contains(c.Removed, a.Pod)
}

// isFresh says whether an answer shows the state after the change: by what it says
// is to be seen; or by a new pod; where none is new, by any other pod; where none
// is left, any answer.
func isFresh(c *event.Change, a *event.Answer) bool {
	switch {
	case c.See != nil:
		return a.Status != 0 && c.See.By(a.Served, a.Status)
	case len(c.Added) > 0:
		return slices.Contains(c.Added, a.Pod)
	case c.Pods > 0:
		return a.Pod != ""
	}
	return a.Status != 0
}
