package kubeapi

import (
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// workspace is what a stream works with while it has events. It borrows one then, as
// thousands may be open and quiet.
type workspace struct {
	events []event
	used   int      // of the events, at most
	parts  [][]byte // of what is to be written, some shared with other streams
	buf    []byte   // holds those that are not
}

// maxKept is the largest buffer that a workspace keeps for its next borrower.
const maxKept = 256 << 10

var workspaces = sync.Pool{New: func() any { return &workspace{events: make([]event, readEvents)} }}

func borrow() *workspace { return workspaces.Get().(*workspace) }

// giveBack empties it first, lest it keep objects alive.
func (w *workspace) giveBack() {
	clear(w.events[:w.used])
	w.used = 0
	w.reset()
	if cap(w.buf) > maxKept {
		w.buf = nil
	}
	workspaces.Put(w)
}

func (w *workspace) reset() {
	clear(w.parts)
	w.parts, w.buf = w.parts[:0], w.buf[:0]
}

// reclaimAfter is how many watches end before their memory is given back to the system. A
// process that does nothing else would keep it for minutes: the runtime collects every two
// minutes then, and gives back slowly.
const reclaimAfter = 500

// reclaimer gives memory back after watches have ended in large numbers.
type reclaimer struct {
	ended   atomic.Int64 // since the last time
	pending atomic.Bool
}

func (r *reclaimer) watchEnded() {
	if r.ended.Add(1) >= reclaimAfter && r.pending.CompareAndSwap(false, true) {
		time.AfterFunc(time.Second, func() { // others are about to end
			r.ended.Store(0)
			r.pending.Store(false)
			debug.FreeOSMemory()
		})
	}
}
