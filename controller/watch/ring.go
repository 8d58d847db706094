package watch

import (
	"sync"

	"github.com/eapache/channels"
)

// ringSize is how many changes wait for the queue at most, as in
// ingress-nginx.
const ringSize = 1024

// Change is one accepted event. Numbers start at 1 and have no gaps when they
// are given; a reader that sees a gap knows how many the ring dropped.
type Change struct {
	Number uint64
	What   string // "update EndpointSlice demo/web-x2x4z"
	Always bool   // its sync is not merged with an earlier one
}

// Ring numbers changes and holds the newest of them until they are read. A
// writer never waits: when the ring is full, the oldest change is dropped.
// Nothing is lost by that, because the newest always arrives and the sync it
// causes reads everything.
type Ring struct {
	changes *channels.RingChannel

	mu     sync.Mutex
	newest uint64
	closed bool
}

// NewRing returns an empty ring. Close ends it.
func NewRing(size int) *Ring {
	return &Ring{changes: channels.NewRingChannel(channels.BufferCap(size))}
}

// Put numbers a change and adds it.
func (r *Ring) Put(what string, always bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return // nobody will read it
	}
	r.newest++
	r.changes.In() <- Change{Number: r.newest, What: what, Always: always}
}

// Newest is the number of the last change that was put. What is read from the
// Store after asking contains that change.
func (r *Ring) Newest() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.newest
}

// Each calls do with every change that was not dropped, oldest first, and
// returns when the ring was closed and is empty.
func (r *Ring) Each(do func(Change)) {
	for change := range r.changes.Out() {
		do(change.(Change))
	}
}

// Close ends Each. What is put from now on is dropped.
func (r *Ring) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.closed = true
		r.changes.Close()
	}
}
