package behave

import (
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestChanceFailsOneRunInAMillion sums the probability of all counts that fail, under the wanted
// share, over the services.
func TestChanceFailsOneRunInAMillion(t *testing.T) {
	for _, shares := range []map[string]float64{
		{"web": 0.5, "canary": 0.5}, {"web": 0.9, "canary": 0.1}, {"web": 0.99, "canary": 0.01}, {"a": 0.3, "b": 0.3, "c": 0.4}, {"web": 1, "canary": 0},
	} {
		n := enough(shares)
		total := 0.0
		for _, share := range shares {
			if share == 0 || share == 1 {
				continue
			}
			binomial := distuv.Binomial{N: float64(n), P: share}
			for count := range n + 1 {
				if unlikely(count, n, share, len(shares)) {
					total += binomial.Prob(float64(count))
				}
			}
			half := int(float64(n) * share / 2)
			if !unlikely(half, n, share, len(shares)) {
				t.Errorf("%v: %d of %d, which is half of the share %v, does not fail", shares, half, n, share)
			}
			if expected := int(float64(n) * share); unlikely(expected, n, share, len(shares)) {
				t.Errorf("%v: %d of %d fails, which is the share %v", shares, expected, n, share)
			}
		}
		if total > chance {
			t.Errorf("%v, %d times: a correct controller fails %g of the runs, more than %g", shares, n, total, chance)
		}
	}
}
