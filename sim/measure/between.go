package measure

import (
	"time"

	"windtunnel.dev/sim/event"
)

// between measures how long some worker gave answers that matched neither the state before a change
// nor the state after it. It is one value for all workers together, because new workers after a
// reload have no state from before the change.
type between struct {
	before *event.Answer // the first answer of any worker
	odd    time.Duration // the first answer that matches neither state
	over   time.Duration // the first answer from the new state after the last such answer; none: still going on
}

// add processes the answers to a change, in order of time.
func (b *between) add(c *event.Change, a *event.Answer, at time.Duration) {
	switch {
	case c.Confirmation == nil || a.Status == 0:
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

// duration returns the length of that time. It returns none for a change without answers. A time
// that is still going on lasts until end.
func (b *between) duration(end time.Duration) time.Duration {
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
