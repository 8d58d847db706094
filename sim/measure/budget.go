package measure

import "math"

// Budget is how much a figure may rise before it counts as worse: the largest of its fields. With
// the zero value, the figure must not rise.
type Budget struct {
	More float64 // in the figure's unit
	Rel  float64 // of base, 0 to 1
	// Chance is for counts of random events: a number of standard deviations, each
	// the square root of the count (Poisson).
	Chance float64
}

// Allows returns how much a figure may rise from a value.
func (b Budget) Allows(base float64) float64 {
	base = math.Abs(base)
	return max(b.More, b.Rel*base, b.Chance*math.Sqrt(base))
}

const (
	millisecond = 1e-3
	mebibyte    = 1 << 20
)

// Budgets that several figures share. Depending on the sync rate limit, a run may have one more
// reload and one more POST by chance. Lost requests, retries and new connections are random events
// that occur in bursts, so a few more are not significant.
var (
	oneMore = Budget{More: 1, Rel: 0.10}
	bursts  = Budget{More: 3, Rel: 0.50, Chance: 2}
)

// within returns the budget of a figure that varies: a tenth of base, and at least the measurement
// error. A tick of CPU time is 10 ms, a probe takes some milliseconds, and the median of hundreds
// of requests is accurate to a few microseconds.
func within(more float64) Budget { return Budget{More: more, Rel: 0.10} }
