package quarantine

import (
	"time"

	"golang.org/x/time/rate"
)

// budget limits trials to 60 per minute and to half of the time. Each limit allows bursts of one
// minute's worth. The zero value is a full budget.
type budget struct {
	trials, milliseconds *rate.Limiter
}

func (b *budget) fill() {
	if b.trials == nil {
		b.trials, b.milliseconds = rate.NewLimiter(1, 60), rate.NewLimiter(500, 30_000)
	}
}

// spend charges a trial and its duration, even if the budget is too small.
func (b *budget) spend(now time.Time, took time.Duration) {
	b.fill()
	b.trials.ReserveN(now, 1)
	for left := int(took.Milliseconds()); left > 0; left -= b.milliseconds.Burst() {
		b.milliseconds.ReserveN(now, min(left, b.milliseconds.Burst()))
	}
}

// wait returns the time until the budget suffices for a trial.
func (b *budget) wait(now time.Time) time.Duration {
	b.fill()
	return max(until(b.trials, now), until(b.milliseconds, now))
}

func until(limiter *rate.Limiter, now time.Time) time.Duration {
	lacking := 1 - limiter.TokensAt(now)
	if lacking <= 0 {
		return 0
	}
	return time.Duration(lacking / float64(limiter.Limit()) * float64(time.Second))
}
