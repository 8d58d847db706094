package behave

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/stat/distuv"
)

// chance is the permitted probability that a correct controller fails an expectation of shares.
const chance = 1e-6

// mostTimes limits how often a request is sent.
const mostTimes = 100_000

// leastTimes is the minimum number of requests for checking a share of 0 or 1: with so many
// requests, a service with half of the traffic gets none by chance in one of a million runs.
const leastTimes = 20

// unlikely reports whether chance explains a count among n answers, for one of several services, in
// less than one of a million runs. The test is the exact binomial one, two-sided, with Bonferroni's
// correction for the number of services.
func unlikely(count, n int, share float64, services int) bool {
	if share <= 0 || share >= 1 {
		return count != int(math.Round(share))*n
	}
	binomial := distuv.Binomial{N: float64(n), P: share}
	tail := min(binomial.CDF(float64(count)), binomial.Survival(float64(count-1)))
	return 2*tail*float64(services) < chance
}

// TimesFor returns how often a request must be sent at least to check shares. ok is false if no
// number that a case may have is enough.
func TimesFor(shares map[string]float64) (times int, ok bool) {
	times = enough(shares)
	return times, times <= mostTimes
}

// Unlikely reports whether chance explains the number of answers of each service in less than one of
// a million runs, if the services have these shares.
func Unlikely(shares map[string]float64, counts map[string]int) bool {
	n := 0
	for _, count := range counts {
		n += count
	}
	for service, count := range counts {
		if unlikely(count, n, shares[service], len(shares)) {
			return true
		}
	}
	for service, share := range shares {
		if _, answered := counts[service]; !answered && unlikely(0, n, share, len(shares)) {
			return true
		}
	}
	return false
}

// enough returns how often a request must be sent so that the test fails for a service that gets
// half of its share. It returns mostTimes+1 if even the largest number is too small.
func enough(shares map[string]float64) int {
	needed := leastTimes
	for _, share := range shares {
		if share > 0 && share < 1 {
			needed = max(needed, 1+sort.Search(mostTimes, func(i int) bool {
				return unlikely(int(float64(i+1)*share/2), i+1, share, len(shares))
			}))
		}
	}
	return needed
}
