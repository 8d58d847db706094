package traffic

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func numbered(n int) (targets []Target) {
	for i := range n {
		targets = append(targets, Target{Host: fmt.Sprint("host", i)})
	}
	return targets
}

// chosen returns how often each of the targets is chosen, the most popular first.
func chosen(p popularity, choices int) (all []int) {
	random, byHost := rand.New(rand.NewPCG(1, 2)), map[string]int{}
	for range choices {
		byHost[p.choose(random).Host]++
	}
	for _, n := range byHost {
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b int) int { return b - a })
	return all
}

// TestPopularity compares the number of requests of the most popular targets with Zipf's law.
func TestPopularity(t *testing.T) {
	const targets, choices = 50, 200_000
	for _, exponent := range []float64{0, 0.5, 1, 2} {
		sum := 0.0
		for n := range targets {
			sum += math.Pow(float64(n+1), -exponent)
		}
		got := chosen(newPopularity(numbered(targets), exponent, 7), choices)
		if len(got) != targets {
			t.Errorf("exponent %v: %d targets are chosen, want all %d", exponent, len(got), targets)
			continue
		}
		for n := range 3 {
			want := choices / sum * math.Pow(float64(n+1), -exponent)
			// Without an exponent, the most chosen of many is a little above the mean.
			if math.Abs(float64(got[n])-want) > 5*math.Sqrt(want) {
				t.Errorf("exponent %v: the target of rank %d is chosen %d times, want about %.0f", exponent, n+1, got[n], want)
			}
		}
	}
}

func TestPopularTargetsFollowFromTheSeed(t *testing.T) {
	top := map[Target]bool{}
	for _, seed := range []uint64{1, 1, 2, 2, 3, 3} {
		top[newPopularity(numbered(1000), 1, seed).targets[0]] = true
	}
	if len(top) != 3 {
		t.Errorf("three seeds, each twice, have %d most popular targets: %v", len(top), top)
	}
	if one := newPopularity(numbered(1), 1.5, 1).choose(rand.New(rand.NewPCG(1, 2))); one.Host != "host0" {
		t.Errorf("of one target, %v is chosen", one)
	}
}
