package measure

import (
	"slices"
	"time"

	"windtunnel.dev/sim/event"
)

// sighting is what one worker showed about one change.
type sighting struct {
	probed    time.Duration // when it was last probed
	fresh     time.Duration // its first answer from the new state
	stale     time.Duration // its last answer from the old state
	freshened time.Duration // its first answer from the new state after the last from the old
	flaps     int
}

// none means that there is no such time.
const none time.Duration = -1

func newSighting() *sighting {
	return &sighting{probed: none, fresh: none, stale: none, freshened: none}
}

// probe returns the gap since the previous answer, or none for the first one.
func (s *sighting) probe(at time.Duration) (gap time.Duration) {
	gap = none
	if s.probed != none {
		gap = at - s.probed
	}
	s.probed = at
	return gap
}

// add processes an answer, in the order of At. Answers at the same time may come in any order.
func (s *sighting) add(c *event.Change, a *event.Answer, at time.Duration) {
	switch {
	case isStale(c, a):
		s.stale = at
		if s.freshened < at {
			s.freshened = none
		}
		// Without a new pod, an answer from another pod only shows that the worker chose that pod,
		// so there is nothing to fall back from.
		if (len(c.Added) > 0 || c.Confirmation != nil) && s.fresh != none && s.fresh < at {
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
}

// served returns when the worker began to serve the change for good, or none if it did not. A new
// pod proves the new state, even if an old pod answers once more afterwards. If pods were only
// removed, an answer from another pod may be a coincidence, so the first one after the last answer
// from an old pod counts.
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
	if c.Confirmation != nil {
		return a.Status != 0 && !c.Confirmation.Matches(a.Served, a.Status)
	}
	return a.Pod != "" && slices.Contains(c.Removed, a.Pod)
}

// isFresh reports whether an answer shows the state after the change. If the change has a
// confirmation, the answer must match it. Otherwise it must come from a new pod; if there are no
// new pods, from any pod that was not removed; and if no pod is left, any response counts.
func isFresh(c *event.Change, a *event.Answer) bool {
	switch {
	case c.Confirmation != nil:
		return a.Status != 0 && c.Confirmation.Matches(a.Served, a.Status)
	case len(c.Added) > 0:
		return slices.Contains(c.Added, a.Pod)
	case c.Pods > 0:
		return a.Pod != ""
	}
	return a.Status != 0
}
