package watch

import (
	"sync"

	"github.com/eapache/channels"
)

// ringSize bounds the number of changes that wait for the queue, as in ingress-nginx.
const ringSize = 1024

// Change is an event that needs a sync. Numbers are consecutive and start at 1, so a gap shows how
// many changes the ring dropped.
type Change struct {
	Number uint64
	What   string // "update EndpointSlice demo/web-x2x4z"
	Always bool   // it needs its own sync; see Queue.Force
}

// Ring is a ring buffer of numbered changes. A writer never waits: when the ring is full, it drops
// the oldest change. That does no harm, because the newest change always arrives, and its sync
// reads the whole store.
type Ring struct {
	changes *channels.RingChannel

	mu     sync.Mutex
	newest uint64
	closed bool
}

// NewRing returns an empty ring. Close releases it.
func NewRing(size int) *Ring {
	return &Ring{changes: channels.NewRingChannel(channels.BufferCap(size))}
}

// Put numbers a change and adds it.
func (r *Ring) Put(what string, always bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return // nothing reads it
	}
	r.newest++
	r.changes.In() <- Change{Number: r.newest, What: what, Always: always}
}

// Newest returns the number of the last change that was put. Every later read of the Store includes
// that change.
func (r *Ring) Newest() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.newest
}

// Each calls do for every change that was not dropped, oldest first. It returns when the ring is
// closed and empty.
func (r *Ring) Each(do func(Change)) {
	for change := range r.changes.Out() {
		do(change.(Change))
	}
}

// Close ends Each. Later changes are dropped.
func (r *Ring) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		r.changes.Close()
	}
}
