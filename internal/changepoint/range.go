package changepoint

import (
	"math"
	"slices"
)

// Range returns the range that contains the only change of a series with a probability of 95 %, if
// every place is equally likely a priori: the index of the first value after the change is between
// first and last. The range of a sharp step is one place. The range of a slow rise covers places
// within the rise. A series with fewer than two values has the range 0 to 0.
//
// The values on both sides have a Laplace distribution around their median, with the same unknown
// spread. So a place is more likely if the sum of the absolute deviations is smaller, and outliers
// have little weight.
func Range(values []float64) (first, last int) {
	const probability = 0.95
	likely := likelihoods(values)
	total := 0.0
	for at, l := range likely {
		total += l
		if l > likely[first] {
			first = at
		}
	}
	last = first
	for covered := likely[first]; covered < probability*total; {
		before, after := 0.0, 0.0
		if first > 0 {
			before = likely[first-1]
		}
		if last+1 < len(likely) {
			after = likely[last+1]
		}
		if before >= after {
			first--
			covered += before
		} else {
			last++
			covered += after
		}
	}
	return first, last
}

// likelihoods returns, for each index, the likelihood of a change there, relative to the largest. It
// is zero for the index 0.
func likelihoods(values []float64) []float64 {
	n := len(values)
	likely := make([]float64, max(n, 1))
	least := math.Inf(1)
	for at := 1; at < n; at++ {
		likely[at] = deviations(values[:at]) + deviations(values[at:])
		least = min(least, likely[at])
	}
	for at := 1; at < n; at++ {
		switch {
		case likely[at] == least:
			likely[at] = 1
		default:
			likely[at] = math.Pow(least/likely[at], float64(n))
		}
	}
	return likely
}

// deviations returns the sum of the absolute deviations from the median.
func deviations(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	median, sum := sorted[len(sorted)/2], 0.0
	for _, v := range sorted {
		sum += math.Abs(v - median)
	}
	return sum
}
