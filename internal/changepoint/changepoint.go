// Package changepoint finds where the distribution of a series of values changes. Its one rule: it
// knows only values in their order, and the same values give the same result.
//
// The method is E-divisive with means: D. S. Matteson and N. A. James, "A Nonparametric Approach for
// Multiple Change Point Analysis of Multivariate Data", Journal of the American Statistical
// Association 109 (505), 2014, pages 334 to 345, for values of one dimension and with the exponent 1.
// It assumes no distribution, only that values between two changes are exchangeable.
package changepoint

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Change is a place where the distribution changes.
type Change struct {
	At int     // index of the first value after the change
	P  float64 // of the permutation test
}

// Options say when a change is significant. The zero value means the defaults.
type Options struct {
	// Alpha is the probability of finding any change in values without one, 0 to 1; default 0.05.
	Alpha float64
}

// MinSize is the smallest number of values between two changes, so that a single outlier is not a
// change.
const MinSize = 3

const (
	defaultAlpha = 0.05
	// perAlpha is the number of permutations, including the series itself, times alpha. The test
	// has the level alpha for any whole number. More permutations take longer and find few additional
	// changes, because p of a relevant change is much smaller than alpha.
	perAlpha = 1
)

// Find returns the changes of a series, sorted. There are none in a series with fewer than 2 MinSize
// values. The time is quadratic in the number of values, and grows with 1/Alpha if there are changes.
func Find(values []float64, o Options) []Change {
	if o.Alpha == 0 {
		o.Alpha = defaultAlpha
	}
	f := finder{
		Options: o, permutations: int(math.Ceil(perAlpha/o.Alpha)) - 1,
		random: rand.New(rand.NewPCG(1, 1)), values: values,
	}
	return f.find()
}

// finder is one search.
type finder struct {
	Options
	permutations int
	random       *rand.Rand
	values       []float64
	sums         sums
}

// find splits the series at the best place of any segment as long as the split is significant.
func (f *finder) find() []Change {
	var found []Change
	for {
		segments := split(f.values, found)
		best := f.best(segments)
		if best.q <= 0 {
			return found
		}
		p := f.p(segments, best.q)
		if p > f.Alpha {
			return found
		}
		found = append(found, Change{At: best.at, P: p})
		slices.SortFunc(found, func(a, b Change) int { return a.At - b.At })
	}
}

// split returns copies of the values between changes.
func split(values []float64, changes []Change) [][]float64 {
	var all [][]float64
	from := 0
	for _, c := range changes {
		all = append(all, slices.Clone(values[from:c.At]))
		from = c.At
	}
	return append(all, slices.Clone(values[from:]))
}

// p returns the probability that segments without a change have a best split as good as q: the share
// of permutations within the segments that have one. It stops early, with 1, when the share is
// certain to exceed Alpha.
func (f *finder) p(segments [][]float64, q float64) float64 {
	const rounding = 1e-9
	all := float64(f.permutations + 1)
	asGood := 1.0 // the series itself
	for range f.permutations {
		for _, s := range segments {
			f.random.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
		}
		if f.best(segments).q >= q*(1-rounding) {
			if asGood++; asGood > f.Alpha*all {
				return 1
			}
		}
	}
	return asGood / all
}

// place is the best place to split a segment.
type place struct {
	at int     // index in the series
	q  float64 // quality of the split, larger is better; 0: the segment cannot be split
}

// best returns the best split of any segment.
func (f *finder) best(segments [][]float64) (best place) {
	from := 0
	for _, s := range segments {
		if split := f.bestOf(s); split.q > best.q {
			best = place{at: from + split.at, q: split.q}
		}
		from += len(s)
	}
	return best
}

// bestOf returns the best split of a segment: the index at which the distance between the values
// before it and the values from it to some end is largest (equation 5 of the paper). The end may
// lie within the segment, so that a later change back does not hide the first one.
func (f *finder) bestOf(values []float64) (best place) {
	n := len(values)
	if n < 2*MinSize {
		return place{}
	}
	f.sums.of(values)
	for at := MinSize; at <= n-MinSize; at++ {
		if q := f.sums.farthest(at, at+MinSize, n); q > best.q {
			best = place{at: at, q: q}
		}
	}
	return best
}
