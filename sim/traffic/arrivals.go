package traffic

import (
	"math"
	"math/rand/v2"
	"sort"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// Arrivals define when the requests of an attack are due: a rate, which may change over time, and
// the distribution of requests at that rate. Times count from the start of the attack.
type Arrivals struct {
	Rate float64 // requests per second at the start
	// To is the rate that a linear ramp reaches after Over, and that remains. Over 0: there is no
	// ramp.
	To   float64
	Over time.Duration
	// Swing is the amplitude of a sine that is added to the rate, with the given Period. It is at
	// most the lowest rate. Period 0: there is no sine.
	Swing  float64
	Period time.Duration
	// Poisson makes requests arrive at random, independently of each other, like those of many
	// clients: at a constant rate the gaps are exponentially distributed. Otherwise they come as
	// evenly as the rate allows.
	Poisson bool
}

// Pacer returns the arrivals in the form that Attack needs. The same seed gives the same times.
func (a Arrivals) Pacer(seed uint64) vegeta.Pacer {
	p := &pacer{arrivals: a}
	if a.Poisson {
		p.chance = rand.New(rand.NewPCG(seed, arrivalStream))
	}
	return p
}

// arrivalStream is the random stream that only arrivals use.
const arrivalStream = 0x61727276

// expected returns how many requests are due in the first t seconds, on average: the integral of
// the rate.
func (a Arrivals) expected(t float64) float64 {
	n := a.Rate * t
	if over := a.Over.Seconds(); over > 0 {
		ramped := min(t, over)
		n += (a.To - a.Rate) * (ramped*ramped/(2*over) + t - ramped)
	}
	if period := a.Period.Seconds(); period > 0 {
		n += a.Swing * period / (2 * math.Pi) * (1 - math.Cos(2*math.Pi*t/period))
	}
	return n
}

// at returns the rate after t seconds, per second.
func (a Arrivals) at(t float64) float64 {
	rate := a.Rate
	if over := a.Over.Seconds(); over > 0 {
		rate += (a.To - a.Rate) * min(t/over, 1)
	}
	if period := a.Period.Seconds(); period > 0 {
		rate += a.Swing * math.Sin(2*math.Pi*t/period)
	}
	return rate
}

// pacer is a vegeta.Pacer. Without Poisson, request n is due when n requests are expected. With
// Poisson, it is due when the number of expected requests reaches the sum of n exponential gaps.
// This is a Poisson process for every course of the rate (time rescaling: on the scale of expected
// requests, its rate is 1).
type pacer struct {
	arrivals Arrivals
	chance   *rand.Rand // nil: requests come evenly
	drawn    uint64     // gaps
	scale    float64    // their sum
}

// Pace returns how long after elapsed the request after the first hits is due.
func (p *pacer) Pace(elapsed time.Duration, hits uint64) (time.Duration, bool) {
	due, ever := p.arrivals.when(p.position(hits), elapsed)
	return due - elapsed, !ever
}

// Rate returns the rate at elapsed, per second.
func (p *pacer) Rate(elapsed time.Duration) float64 { return p.arrivals.at(elapsed.Seconds()) }

// position returns the position of the request after the first hits on the scale of expected
// requests. It may be called again with the same argument.
func (p *pacer) position(hits uint64) float64 {
	if p.chance == nil {
		return float64(hits) + 1
	}
	for ; p.drawn <= hits; p.drawn++ {
		p.scale += p.chance.ExpFloat64()
	}
	return p.scale
}

// longest is the latest time considered: nothing is due after it.
const longest = 1000 * time.Hour

// when returns the first time, not before from, at which n requests are expected.
func (a Arrivals) when(n float64, from time.Duration) (due time.Duration, ever bool) {
	late := func(t time.Duration) bool { return a.expected(t.Seconds()) >= n }
	step := time.Millisecond
	for !late(from + step) {
		if step *= 2; from+step > longest {
			return 0, false
		}
	}
	return from + time.Duration(sort.Search(int(step), func(i int) bool { return late(from + time.Duration(i)) })), true
}
