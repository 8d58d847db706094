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
	used   int      // maximum number of events in use
	parts  [][]byte // parts to write, some shared with other streams
	buf    []byte   // holds the parts that are not shared
}

// maxKept is the largest buffer that a workspace keeps for its next borrower.
const maxKept = 256 << 10

var workspaces = sync.Pool{New: func() any { return &workspace{events: make([]store.Event, readEvents)} }}

func borrowWorkspace() *workspace { return workspaces.Get().(*workspace) }

// giveBack returns the workspace to the pool. It first clears the workspace, so it keeps no objects
// alive.
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

// reclaimAfter is the number of ended watches after which their memory is returned to the system.
// An idle process would keep it for minutes, because the runtime then collects only every two
// minutes and returns memory slowly.
const reclaimAfter = 500

// reclaimer returns memory to the system after many watches have ended.
type reclaimer struct {
	ended   atomic.Int64 // ended watches since the last collection
	pending atomic.Bool
}

func (r *reclaimer) watchEnded() {
	if ended := r.ended.Add(1); ended >= reclaimAfter && r.pending.CompareAndSwap(false, true) {
		r.reclaimWhenQuiet(ended, 10)
	}
}

// reclaimWhenQuiet waits for a second without ended watches, at most for the given number of
// seconds, and then returns the memory, including that of the last watches.
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
