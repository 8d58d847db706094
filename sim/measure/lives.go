package measure

import (
	"math"
	"time"

	"windtunnel.dev/sim/event"
)

// never is later than every moment of a run.
const never time.Duration = math.MaxInt64

// life is when a worker was first seen active, and first seen not to be.
type life struct{ active, over time.Duration }

func (l life) activeAt(t time.Duration) bool { return l.active <= t && t < l.over }

// lives keeps the lives of workers by PID. It knows of a worker from /proc, or
// from an answer alone when nothing watches /proc.
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
