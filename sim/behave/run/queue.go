package run

import (
	"slices"
	"sync"
)

// worthwhile is how many batches must wait for each installation of a group before the group gets
// another one: the start of a controller takes about as long as two batches.
const worthwhile = 2

// queue hands out the batches to installations.
type queue struct {
	mu     sync.Mutex
	groups []*group
}

func newQueue(groups []*group) *queue { return &queue{groups: groups} }

// claim returns the group that needs another installation most, or nil if none does. Large groups
// come first, because the run lasts as long as its last installation.
func (q *queue) claim() *group {
	q.mu.Lock()
	defer q.mu.Unlock()
	var most *group
	for _, g := range q.groups {
		if len(g.batches) == 0 || g.installations > 0 && (g.full || len(g.batches) < worthwhile*(g.installations+1)) {
			continue
		}
		if most == nil || g.share() > most.share() {
			most = g
		}
	}
	if most != nil {
		most.installations++
	}
	return most
}

// share returns how many batches each installation of the group would have after another claim.
func (g *group) share() float64 { return float64(len(g.batches)) / float64(g.installations+1) }

// release ends a claim.
func (q *queue) release(g *group) {
	q.mu.Lock()
	defer q.mu.Unlock()
	g.installations--
}

// next returns the next batch of a group, if there is one.
func (q *queue) next(g *group) (b batch, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(g.batches) == 0 {
		return batch{}, false
	}
	b, g.batches = g.batches[0], g.batches[1:]
	return b, true
}

// putBack puts batches at the head of a group's queue.
func (q *queue) putBack(g *group, batches []batch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	g.batches = slices.Concat(batches, g.batches)
}

// abandon is called if an installation for the group does not start, or serves nothing. It takes all
// batches of the group out of the queue, unless another installation runs them; then the group gets
// no more installations until those have ended.
func (q *queue) abandon(g *group) []batch {
	q.mu.Lock()
	defer q.mu.Unlock()
	if g.installations > 1 {
		g.full = true
		return nil
	}
	all := g.batches
	g.batches = nil
	return all
}

// drain takes all batches out of the queue.
func (q *queue) drain() (all []batch) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, g := range q.groups {
		all = append(all, g.batches...)
		g.batches = nil
	}
	return all
}

// empty reports whether no batch waits.
func (q *queue) empty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !slices.ContainsFunc(q.groups, func(g *group) bool { return len(g.batches) > 0 })
}
