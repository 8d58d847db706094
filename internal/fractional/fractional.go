// Package fractional plans fractional factorial designs of factors with two levels: it finds the
// effects of k factors with 2^(k-p) runs, but some effects cannot be told apart. Its one rule: it
// knows factors only by their numbers. (G. E. P. Box, J. S. Hunter and W. G. Hunter, Statistics for
// Experimenters.)
package fractional

import (
	"fmt"
	"math/bits"
	"slices"

	"windtunnel.dev/internal/plural"
)

// MostFactors is the largest number of factors of a design. The search for the best design of so many
// takes less than a second.
const MostFactors = 11

// Effect is a set of factors, one per bit: bit 0 is the first factor. A set with one factor is its main
// effect, one with two their interaction.
type Effect uint16

// Of returns the effect of some factors, counted from 0.
func Of(factors ...int) Effect {
	var e Effect
	for _, f := range factors {
		e ^= 1 << f
	}
	return e
}

// Order returns the number of factors of an effect.
func (e Effect) Order() int { return bits.OnesCount16(uint16(e)) }

// Has reports whether a factor is in the effect.
func (e Effect) Has(factor int) bool { return e>>factor&1 == 1 }

// Design is a fraction of all combinations of the levels of some factors. It contains all combinations
// of the first factors, the base factors.
type Design struct {
	Factors int
	Base    int // number of base factors
	// Generators define the levels of the other factors, in their order: each has the levels of this
	// interaction of base factors.
	Generators []Effect
}

// MostHalvings returns how often the combinations of some factors can be halved such that the main
// effects can still be told apart.
func MostHalvings(factors int) int {
	base := 1
	for 1<<base-1 < factors {
		base++
	}
	return factors - base
}

// New returns a design whose runs are the combinations of some factors, halved the given number of
// times. No other such design has a higher resolution or, with the same resolution, fewer of the
// shortest words in its defining relation (minimum aberration). It returns an error if no fraction
// is asked for, or if no design has resolution III or more.
func New(factors, halvings int) (Design, error) {
	switch {
	case factors > MostFactors:
		return Design{}, fmt.Errorf("there are %d factors, but at most %d can be run in a fraction", factors, MostFactors)
	case factors < 3:
		return Design{}, fmt.Errorf("there is no fraction for %s: it needs at least 3", plural.Of(factors, "factor"))
	case halvings < 1:
		return Design{}, fmt.Errorf("a fraction has at least one halving, not %d", halvings)
	case halvings > MostHalvings(factors):
		return Design{}, fmt.Errorf("1/%d of the combinations is too few for %d factors: at least 1/%d is needed to tell them apart", 1<<halvings, factors, 1<<MostHalvings(factors))
	}
	base := factors - halvings
	s := search{design: Design{Factors: factors, Base: base}}
	for e := Effect(1); e < 1<<base; e++ {
		if e.Order() > 1 {
			s.candidates = append(s.candidates, e)
		}
	}
	slices.SortStableFunc(s.candidates, func(a, b Effect) int { return b.Order() - a.Order() })
	s.add(nil, 0, make([]Effect, 1, 1<<halvings), pattern{})
	s.design.Generators = s.best
	return s.design, nil
}

// pattern counts the words of a defining relation by their length.
type pattern [MostFactors + 1]int

// search looks for the design with the least pattern among all sets of generators.
type search struct {
	design     Design
	candidates []Effect
	best       []Effect // generators
	least      pattern
}

// add tries all sets of generators that begin with the given ones, whose products are the words. It
// only adds candidates from the given number on. It prunes the search when the pattern is not less
// than the least one, because more generators only add words. All sets share the memory behind
// words.
func (s *search) add(generators []Effect, from int, words []Effect, found pattern) {
	if s.best != nil && slices.Compare(found[:], s.least[:]) >= 0 {
		return
	}
	number := len(generators)
	if s.design.Base+number == s.design.Factors {
		s.best, s.least = slices.Clone(generators), found
		return
	}
	for i := from; i < len(s.candidates); i++ {
		word := s.candidates[i] | Of(s.design.Base+number)
		longer, counted := words, found
		for _, w := range words {
			longer = append(longer, w^word)
			counted[(w^word).Order()]++
		}
		s.add(append(generators, s.candidates[i]), i+1, longer, counted)
	}
}

// Runs returns the runs: for each factor, whether it has its high level. The first base factor varies
// slowest. A generator is the product of its factors' levels, with -1 for low and 1 for high.
func (d Design) Runs() [][]bool {
	var all [][]bool
	for n := range 1 << d.Base {
		run := make([]bool, d.Factors)
		for i := range d.Base {
			run[i] = n>>(d.Base-1-i)&1 == 1
		}
		for i, g := range d.Generators {
			run[d.Base+i] = g.Sign(run) > 0
		}
		all = append(all, run)
	}
	return all
}

// Sign returns the product of the levels of an effect's factors in a run: 1 or -1.
func (e Effect) Sign(run []bool) float64 {
	sign := 1.0
	for i, high := range run {
		if e.Has(i) && !high {
			sign = -sign
		}
	}
	return sign
}

// Words returns the defining relation: the effects whose sign is the same in all runs.
func (d Design) Words() []Effect {
	words := []Effect{0}
	for i, g := range d.Generators {
		for _, w := range slices.Clone(words) {
			words = append(words, w^g^Of(d.Base+i))
		}
	}
	return words[1:]
}

// Resolution returns the length of the shortest word. With III, main effects are confounded with
// interactions of two factors; with IV, only interactions of two factors with each other; with V,
// neither.
func (d Design) Resolution() int {
	shortest := d.Factors + 1
	for _, w := range d.Words() {
		shortest = min(shortest, w.Order())
	}
	return shortest
}

// Column returns the effect of base factors that has the signs of an effect in all runs. Effects with
// the same column are confounded: the runs cannot tell them apart.
func (d Design) Column(e Effect) Effect {
	column := e & (1<<d.Base - 1)
	for i, g := range d.Generators {
		if e.Has(d.Base + i) {
			column ^= g
		}
	}
	return column
}
