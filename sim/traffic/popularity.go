package traffic

import (
	"math"
	"math/rand/v2"
	"sort"
)

// popularity chooses the targets of requests. With an exponent s above zero it follows Zipf's law: the
// n-th most popular target is chosen in proportion to 1/n^s. With zero, all are equally likely.
type popularity struct {
	targets []Target  // the most popular first, if the exponent is above zero
	sums    []float64 // of the weights of targets up to each; nil: all are equal
}

// newPopularity ranks the targets in an order that follows from the seed, so that lanes with the same
// targets have the same popular ones.
func newPopularity(targets []Target, exponent float64, seed uint64) popularity {
	if exponent == 0 {
		return popularity{targets: targets}
	}
	p := popularity{make([]Target, len(targets)), make([]float64, len(targets))}
	sum := 0.0
	for rank, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(targets)) {
		sum += math.Pow(float64(rank+1), -exponent)
		p.targets[rank], p.sums[rank] = targets[i], sum
	}
	return p
}

func (p popularity) choose(random *rand.Rand) Target {
	if p.sums == nil {
		return p.targets[random.IntN(len(p.targets))]
	}
	return p.targets[sort.SearchFloat64s(p.sums, random.Float64()*p.sums[len(p.sums)-1])]
}
