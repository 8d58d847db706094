package measure

import (
	"math"
	"time"

	"windtunnel.dev/sim/event"
)

// never is later than any time in a run.
const never time.Duration = math.MaxInt64

// activeSpan is when a worker was first seen active, and when it was first seen no longer active.
type activeSpan struct{ active, over time.Duration }

func (l activeSpan) activeAt(t time.Duration) bool { return l.active <= t && t < l.over }

// activeSpans contains the active span of each worker by PID. It learns of a worker from /proc or,
// if nothing watches /proc, from the worker's first answer.
type activeSpans map[int]activeSpan

func (ls activeSpans) setState(w event.Worker, at time.Duration) {
	l, known := ls[w.PID]
	switch {
	case w.State == event.Active && (!known || l.over != never):
		ls[w.PID] = activeSpan{at, never}
	case w.State != event.Active && !known:
		ls[w.PID] = activeSpan{at, at}
	case w.State != event.Active && l.over == never:
		ls[w.PID] = activeSpan{l.active, at}
	}
}

func (ls activeSpans) addAnswer(pid int, at time.Duration) {
	if _, known := ls[pid]; !known {
		ls[pid] = activeSpan{at, never}
	}
}
