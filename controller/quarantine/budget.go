package quarantine

import (
	"time"

	"golang.org/x/time/rate"
)

// Budget bounds the cost of trials: 60 per minute, and half of the time. Each can
// save up a minute's worth.
type Budget struct {
	trials, milliseconds *rate.Limiter
}

// NewBudget returns a full budget.
func NewBudget() *Budget {
	return &Budget{trials: rate.NewLimiter(1, 60), milliseconds: rate.NewLimiter(500, 30_000)}
}

// Spend charges a trial and its duration, even if the budget does not suffice.
func (b *Budget) Spend(now time.Time, took time.Duration) {
	b.trials.ReserveN(now, 1)
	for left := int(took.Milliseconds()); left > 0; left -= b.milliseconds.Burst() {
		b.milliseconds.ReserveN(now, min(left, b.milliseconds.Burst()))
	}
}

// Wait returns the time until the budget suffices for a trial.
func (b *Budget) Wait(now time.Time) time.Duration {
	return max(until(b.trials, now), until(b.milliseconds, now))
}

func until(limiter *rate.Limiter, now time.Time) time.Duration {
	lacking := 1 - limiter.TokensAt(now)
	if lacking <= 0 {
		return 0
	}
	return time.Duration(lacking / float64(limiter.Limit()) * float64(time.Second))
}
