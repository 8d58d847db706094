package store

import (
	"sort"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

// The history of a resource is bounded by a number of events, like kube-apiserver's watch cache:
// the number doubles while the history does not reach back freshFor, and halves when most of it
// is older. Unlike that cache, the history is also bounded by bytes.
const (
	minHistoryEvents = 100
	maxHistoryEvents = 102400
	maxHistoryBytes  = 128 << 20
	freshFor         = 75 * time.Second
	// hotEvents is how many of the newest events keep the JSON that watchers share; older ones are
	// encoded again for the rare watcher that resumes there.
	hotEvents = 1024
)

// Event is one change of one object. It never changes once it is in a history.
type Event struct {
	Version uint64
	Kind    watch.EventType
	Object  *Object       // the state after the event; for a deletion the last state, with the deletion's version
	prev    *Object       // the state before the event; nil for a creation
	time    time.Duration // as returned by history.now
}

// history is the append-only ring of the newest events of a resource. Every event has a sequence
// number, from 0 without gaps; watchers keep that number as their position.
type history struct {
	ring        []Event // its length is a power of two
	first, next uint64  // sequence numbers of the oldest event held, and of the one to come
	floor       uint64  // version of the newest dropped event: watches may start at this version or later
	bytes       int
	limit       int // current maximum number of events
	maxEvents   int
	maxBytes    int
	observe     func(Event)          // called for every event, inside the collection's lock; may be nil
	now         func() time.Duration // time since an arbitrary start
}

func newHistory() history {
	start := time.Now()
	return history{ring: make([]Event, 128), limit: minHistoryEvents, maxEvents: maxHistoryEvents, maxBytes: maxHistoryBytes,
		now: func() time.Duration { return time.Since(start) }}
}

func (h *history) at(seq uint64) *Event { return &h.ring[seq&uint64(len(h.ring)-1)] }

func (h *history) len() int { return int(h.next - h.first) }

// append adds an event. It returns the version of the newest event that no longer keeps its shared
// encodings.
func (h *history) append(e Event) (cold uint64) {
	e.time = h.now()
	h.resize(e.time)
	if h.len() == len(h.ring) {
		h.fit(2 * len(h.ring))
	}
	*h.at(h.next) = e
	if h.observe != nil {
		h.observe(e)
	}
	h.next++
	h.bytes += len(e.Object.Raw)
	if h.len() > hotEvents {
		last := h.at(h.next - 1 - hotEvents)
		last.Object.JSON.Store(nil)
		cold = last.Version
	}
	for h.len() > min(h.limit, h.maxEvents) || (h.bytes > h.maxBytes && h.len() > 1) {
		h.drop()
	}
	return cold
}

// resize adapts the limit when the history has reached it.
func (h *history) resize(now time.Duration) {
	switch quarter := uint64(h.limit / 4); {
	case h.len() < h.limit:
	case now-h.at(h.first).time < freshFor:
		h.limit = min(2*h.limit, maxHistoryEvents)
	case now-h.at(h.next-quarter).time > freshFor:
		h.limit = max(h.limit/2, minHistoryEvents)
		for h.len() > h.limit {
			h.drop()
		}
		for len(h.ring) > 2*h.limit {
			h.fit(len(h.ring) / 2)
		}
	}
}

// fit moves all events to a ring of another size.
func (h *history) fit(size int) {
	old := *h
	h.ring = make([]Event, size)
	for seq := h.first; seq < h.next; seq++ {
		*h.at(seq) = *old.at(seq)
	}
}

// drop removes the oldest event.
func (h *history) drop() {
	oldest := h.at(h.first)
	h.floor = oldest.Version
	h.bytes -= len(oldest.Object.Raw)
	*oldest = Event{}
	h.first++
}

// before returns the version at an earlier value of now: that of the newest event up to then, or of
// the oldest known state.
func (h *history) before(then time.Duration) uint64 {
	n := sort.Search(h.len(), func(i int) bool { return h.at(h.first+uint64(i)).time > then })
	if n == 0 {
		return h.floor
	}
	return h.at(h.first + uint64(n-1)).Version
}

// since returns the sequence number of the first event after version rv. It returns false if events
// after rv have been dropped.
func (h *history) since(rv uint64) (uint64, bool) {
	if rv < h.floor {
		return 0, false
	}
	n := sort.Search(h.len(), func(i int) bool { return h.at(h.first+uint64(i)).Version > rv })
	return h.first + uint64(n), true
}
