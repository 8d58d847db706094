package controller

import (
	"time"

	"golang.org/x/time/rate"
)

// reloadLimit limits the rate of reloads; syncs without a reload may be more frequent. A nil
// reloadLimit imposes no limit.
type reloadLimit struct {
	limiter *rate.Limiter
	taken   bool      // this sync may reload any number of times
	due     time.Time // when the next sync is requested
}

// newReloadLimit returns the limit of reloads per second, or nil if syncs have the same limit.
func newReloadLimit(reloads, syncs float64) *reloadLimit {
	if syncs == reloads {
		return nil
	}
	return &reloadLimit{limiter: rate.NewLimiter(rate.Limit(reloads), 1)}
}

// begin begins a sync.
func (l *reloadLimit) begin() {
	if l != nil {
		l.taken = false
	}
}

// start counts a start of nginx as a reload. It never waits, because nothing works before the
// start.
func (l *reloadLimit) start() {
	if l != nil {
		l.taken = true
		l.limiter.Allow()
	}
}

// take reports whether this sync may reload nginx. If not, it schedules a call of again at the time
// when a sync may; first is false if such a call is already scheduled.
func (l *reloadLimit) take(again func()) (ok, first bool) {
	if l == nil || l.taken {
		return true, false
	}
	now := time.Now()
	reserved := l.limiter.ReserveN(now, 1)
	wait := reserved.DelayFrom(now)
	if wait == 0 {
		l.taken = true
		return true, false
	}
	reserved.CancelAt(now)
	if now.Before(l.due) {
		return false, false
	}
	l.due = now.Add(wait)
	time.AfterFunc(wait, again)
	return false, true
}
