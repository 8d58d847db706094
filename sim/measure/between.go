package measure

import (
	"time"

	"windtunnel.dev/sim/event"
)

// between is the time in which some worker gave an answer that was neither of
// the state before a change nor of that after it. A reload's new workers have no
// state before, so it is told for all workers together.
type between struct {
	before *event.Answer // the first answer of any
	odd    time.Duration // the first answer of neither state
	over   time.Duration // the first of the new state after the last such; none: it goes on
}

// see takes the answers to a change in the order of time.
func (b *between) see(c *event.Change, a *event.Answer, at time.Duration) {
	switch {
	case c.See == nil || a.Status == 0:
	case b.before == nil:
		b.before, b.odd, b.over = a, none, none
	case isFresh(c, a):
		if b.odd != none && b.over == none {
			b.over = at
		}
	case a.Status != b.before.Status || a.Served != b.before.Served:
		if b.odd == none {
			b.odd = at
		}
		b.over = none
	}
}

// took is how long that was, none for a change that nobody was asked about. What
// goes on ends at the end.
func (b *between) took(end time.Duration) time.Duration {
	switch {
	case b.before == nil:
		return none
	case b.odd == none:
		return 0
	case b.over == none:
		return end - b.odd
	}
	return b.over - b.odd
}
