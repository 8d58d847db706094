package measure

import (
	"math"
	"time"

	"windtunnel.dev/sim/event"
)

// never is later than any time in a run.
const never time.Duration = math.MaxInt64

// life is when a worker was first seen active, and when it was first seen no longer active.
type life struct{ active, over time.Duration }

func (l life) activeAt(t time.Duration) bool { return l.active <= t && t < l.over }

// lives contains the lives of workers by PID. It learns of a worker from /proc or, if nothing
// watches /proc, from the worker's first answer.
type lives map[int]life

func (ls lives) see(w event.Worker, at time.Duration) {
	l, known := ls[w.PID]
	switch {
	case w.State == event.Active && (!known || l.over != never):
		ls[w.PID] = life{at, never}
	case w.State != event.Active && !known:
		ls[w.PID] = life{at, at}
	case w.State != event.Active && l.over == never:
		ls[w.PID] = life{l.active, at}
	}
}

func (ls lives) heard(pid int, at time.Duration) {
	if _, known := ls[pid]; !known {
		ls[pid] = life{at, never}
	}
}
