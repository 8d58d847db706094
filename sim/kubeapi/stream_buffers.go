package kubeapi

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"windtunnel.dev/sim/kubeapi/internal/store"
)

// workspace holds the buffers of a stream. A stream borrows one only while it has events,
// because thousands of streams may be open and idle.
type workspace struct {
	events []store.Event
	used   int      // of the events, at most
	parts  [][]byte // of what is to be written, some shared with other streams
	buf    []byte   // holds those that are not
}

// maxKept is the largest buffer that a workspace keeps for its next borrower.
const maxKept = 256 << 10

var workspaces = sync.Pool{New: func() any { return &workspace{events: make([]store.Event, readEvents)} }}

func borrow() *workspace { return workspaces.Get().(*workspace) }

// giveBack clears it first, so it keeps no objects alive.
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

// reclaimAfter is how many watches end before their memory is returned to the system. An
// idle process would keep it for minutes, because the runtime then collects every two
// minutes and returns memory slowly.
const reclaimAfter = 500

// reclaimer returns memory to the system after many watches have ended.
type reclaimer struct {
	ended   atomic.Int64 // since the last time
	pending atomic.Bool
}

func (r *reclaimer) watchEnded() {
	if ended := r.ended.Add(1); ended >= reclaimAfter && r.pending.CompareAndSwap(false, true) {
		r.reclaimWhenQuiet(ended, 10)
	}
}

// reclaimWhenQuiet waits for a second in which no watch ends, for at most that many
// seconds, because what the last watches held must return, too.
func (r *reclaimer) reclaimWhenQuiet(ended int64, seconds int) {
	time.AfterFunc(time.Second, func() {
		if now := r.ended.Load(); now != ended && seconds > 1 {
			r.reclaimWhenQuiet(now, seconds-1)
			return
		}
		r.ended.Store(0)
		r.pending.Store(false)
		runtime.GC() // a sync.Pool keeps its buffers through one collection
		debug.FreeOSMemory()
	})
}
