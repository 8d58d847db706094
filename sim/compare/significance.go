package compare

import (
	"cmp"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
)

// test is a row whose verdict needs a test, with its sample.
type test struct {
	sample
	row *Row
}

// minRuns is the number of runs per side needed to judge a single varying figure:
// with three, no difference reaches 5 % in a Mann-Whitney test.
const minRuns = 4

// p returns the probability that two samples of the same distribution, of any shape,
// differ at least as much as these (Mann-Whitney, two-sided).
func p(base, head []float64) float64 {
	return benchmath.AssumeNothing.Compare(benchSample(base), benchSample(head)).P
}

func median(values []float64) float64 {
	return benchmath.AssumeNothing.Summary(benchSample(values), 0.95).Center
}

// Median returns the median of values, and the 95 % confidence interval of the median of their
// distribution. With too few values for an interval, low is -Inf and high +Inf.
func Median(values []float64) (center, low, high float64) {
	s := benchmath.AssumeNothing.Summary(benchSample(values), 0.95)
	return s.Center, s.Lo, s.Hi
}

func benchSample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
}

// smallestP returns the smallest p that is possible with these numbers of runs. It is the p of
// samples that do not overlap: 2 divided by the number of ways to split the runs.
func smallestP(base, head int) float64 {
	ways := 1.0
	for i := 1; i <= head; i++ {
		ways *= float64(base+i) / float64(i)
	}
	return min(1, 2/ways)
}

// conclusiveTests returns the tests that can find a difference when all of them are made together.
// The other tests have too few runs. The selection depends only on the numbers of runs, never on
// the values, so the excluded tests do not weaken the rest.
func conclusiveTests(tests []test, alpha float64) []test {
	slices.SortStableFunc(tests, func(a, b test) int {
		return cmp.Compare(smallestP(len(a.base), len(a.head)), smallestP(len(b.base), len(b.head)))
	})
	n := len(tests)
	for n > 0 && smallestP(len(tests[n-1].base), len(tests[n-1].head))*float64(n) >= alpha {
		n--
	}
	for _, t := range tests[n:] {
		t.row.Verdict = TooFew
	}
	return tests[:n]
}

// runsNeeded returns the number of runs per side that this number of tests needs to find a
// difference.
func runsNeeded(tests int, alpha float64) int {
	n := 1
	for smallestP(n, n)*float64(tests) >= alpha {
		n++
	}
	return n
}

// holm judges the tests with Holm's correction. Among many tests some look significant
// by chance, so the smallest p must pass the strictest level. The chance of any false
// alarm is at most alpha, even if the figures depend on one another.
func holm(tests []test, alpha float64) {
	for _, t := range tests {
		t.row.P = p(t.base, t.head)
	}
	slices.SortStableFunc(tests, func(a, b test) int { return cmp.Compare(a.row.P, b.row.P) })
	least := 0.0
	for i, t := range tests {
		least = max(least, math.Min(1, t.row.P*float64(len(tests)-i)))
		t.row.P = least
		t.row.Verdict = Unsure
		if least < alpha {
			t.row.Verdict = t.row.direction()
		}
	}
}

// leastShift tries several rises, from the budget upwards, and returns the smallest one that the
// test would have found if head's runs were base's runs plus the rise.
func (t test) leastShift(alpha float64) float64 {
	apart := 1.01 * (slices.Max(t.base) - slices.Min(t.base)) // the samples do not overlap beyond this rise
	step := max(t.row.Budget, 0.01*math.Abs(t.row.Base))
	for _, times := range []float64{1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50} {
		if shift := times * step; shift < apart && p(t.base, t.raised(shift)) < alpha {
			return shift
		}
	}
	return max(step, apart)
}

// raised returns as many values as head has: those of base plus a rise.
func (t test) raised(shift float64) []float64 {
	raised := make([]float64, len(t.head))
	for i := range raised {
		raised[i] = t.base[i%len(t.base)] + shift
	}
	return raised
}
