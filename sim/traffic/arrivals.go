package traffic

import (
	"math"
	"math/rand/v2"
	"sort"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// Arrivals say when the requests of an attack are due: a rate that may change
// over time, and how requests come at that rate. Times count from the start of
// the attack.
type Arrivals struct {
	Rate float64 // a second, at first
	// To is the rate that is reached after Over, in a straight line; it stays. Over 0: there is no ramp.
	To   float64
	Over time.Duration
	// Swing is by how much the rate goes up and then down in each Period, as a
	// sine does. It is at most the lowest rate. Period 0: it does not swing.
	Swing  float64
	Period time.Duration
	// Poisson makes requests come by chance, independently of each other, as
	// those of many clients do: at a constant rate the gaps are exponentially
	// distributed. Otherwise they come as evenly as the rate allows.
	Poisson bool
}

// Pacer is the arrivals as an Attack takes them. The same seed gives the same
// times.
func (a Arrivals) Pacer(seed uint64) vegeta.Pacer {
	p := &pacer{arrivals: a}
	if a.Poisson {
		p.chance = rand.New(rand.NewPCG(seed, arrivalStream))
	}
	return p
}

// arrivalStream is the stream of chance that arrivals have to themselves.
const arrivalStream = 0x61727276

// expected is how many requests are due in the first t seconds, on average:
// the integral of the rate.
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

// at is the rate after t seconds.
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

// pacer is due for its next request when as many are expected as have come and
// one more; by chance, when as many as that many exponential gaps come to. That
// is a Poisson process whatever the rate does (time rescaling: on the scale of
// expected requests its own rate is 1).
type pacer struct {
	arrivals Arrivals
	chance   *rand.Rand // nil: evenly
	drawn    uint64     // gaps
	scale    float64    // their sum
}

// Pace says how long after elapsed the request after the first hits is due.
func (p *pacer) Pace(elapsed time.Duration, hits uint64) (time.Duration, bool) {
	due, ever := p.arrivals.when(p.place(hits), elapsed)
	return due - elapsed, !ever
}

// Rate is the rate at elapsed, a second.
func (p *pacer) Rate(elapsed time.Duration) float64 { return p.arrivals.at(elapsed.Seconds()) }

// place is where on the scale of expected requests the one after the first
// hits stands. It may be asked again for the same one.
func (p *pacer) place(hits uint64) float64 {
	if p.chance == nil {
		return float64(hits) + 1
	}
	for ; p.drawn <= hits; p.drawn++ {
		p.scale += p.chance.ExpFloat64()
	}
	return p.scale
}

// longest is the latest moment that is looked at: beyond it nothing is due.
const longest = 1000 * time.Hour

// when is the first moment, not before from, by which n requests are expected.
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
