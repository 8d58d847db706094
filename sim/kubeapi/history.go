package kubeapi

import (
	"sort"

	"k8s.io/apimachinery/pkg/watch"
)

// The history of a resource is bounded by count, as kube-apiserver's watch
// cache is, and by bytes, which that is not.
const (
	maxHistoryEvents = 102400
	maxHistoryBytes  = 256 << 20
	// hotEvents is how many of the newest events keep the JSON that watchers
	// share; older ones are encoded again for the rare watcher that resumes there.
	hotEvents = 1024
)

// event is one change of one object. It never changes once it is in a history.
type event struct {
	rv     uint64
	kind   watch.EventType
	object *object // the state after it; for a deletion the last state, with the deletion's version
	prev   *object // the state before it; nil for a creation
}

// history is the append-only ring of a resource's newest events. Every event has
// a sequence number, from 0 without gaps, which is what watchers hold on to.
type history struct {
	ring        []event // its length is a power of two
	first, next uint64  // sequence numbers of the oldest event held, and of the one to come
	floor       uint64  // version of the newest event given up: watches may start from here on
	bytes       int
	maxEvents   int
	maxBytes    int
	observe     func(event) // told of every event, inside the collection's lock; may be nil
}

func newHistory() history {
	return history{ring: make([]event, 128), maxEvents: maxHistoryEvents, maxBytes: maxHistoryBytes}
}

func (h *history) at(seq uint64) *event { return &h.ring[seq&uint64(len(h.ring)-1)] }

func (h *history) len() int { return int(h.next - h.first) }

func (h *history) append(e event) {
	if h.len() == len(h.ring) {
		h.grow()
	}
	*h.at(h.next) = e
	if h.observe != nil {
		h.observe(e)
	}
	h.next++
	h.bytes += len(e.object.raw)
	if h.len() > hotEvents {
		h.at(h.next - 1 - hotEvents).object.json.Store(nil)
	}
	for h.len() > h.maxEvents || (h.bytes > h.maxBytes && h.len() > 1) {
		h.drop()
	}
}

func (h *history) grow() {
	old := *h
	h.ring = make([]event, 2*len(old.ring))
	for seq := h.first; seq < h.next; seq++ {
		*h.at(seq) = *old.at(seq)
	}
}

// drop gives up the oldest event.
func (h *history) drop() {
	oldest := h.at(h.first)
	h.floor = oldest.rv
	h.bytes -= len(oldest.object.raw)
	*oldest = event{}
	h.first++
}

// since returns the sequence number of the first event after version rv. It is
// false when events after rv have been given up.
func (h *history) since(rv uint64) (uint64, bool) {
	if rv < h.floor {
		return 0, false
	}
	n := sort.Search(h.len(), func(i int) bool { return h.at(h.first+uint64(i)).rv > rv })
	return h.first + uint64(n), true
}
