package sweep

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"windtunnel.dev/internal/fractional"
)

// Fraction is the part of all combinations that a sweep of factors with two values runs. It can
// distinguish fewer effects than all combinations can.
type Fraction struct {
	Of         int         `json:"of"`         // one of this many combinations is run: a power of two
	Generators []Generator `json:"generators"` // of the factors after the first ones, which have all combinations
	// Resolution is the length of the shortest set of factors whose product never changes. With 3, main
	// effects are confounded with interactions of two factors; with 4, these only with each other; with 5
	// or more, neither.
	Resolution int `json:"resolution"`
	// Confounded are the groups of main effects and interactions of two factors that cannot be
	// distinguished. An effect outside of these groups is confounded only with interactions of more factors.
	Confounded []Confounded `json:"confounded,omitempty"`
}

// Generator says how the value of a factor follows from others: it is the last value if an even
// number of the factors in the product have their first value.
type Generator struct {
	Path    string   `json:"path"`
	Product []string `json:"product"` // paths
}

// Confounded is a group of effects whose sum is measured as if it were one.
type Confounded struct {
	Path  string      `json:"path,omitempty"` // of the main effect; empty if there is none among them
	Pairs [][2]string `json:"pairs"`          // paths of interactions
}

// ParseFraction parses a fraction such as 1/4.
func ParseFraction(text string) (Fraction, error) {
	below, found := strings.CutPrefix(text, "1/")
	of, err := strconv.ParseUint(below, 10, 31)
	if !found || err != nil || of < 2 || bits.OnesCount64(of) != 1 {
		return Fraction{}, fmt.Errorf("%q is not a fraction of a design; write 1/2, 1/4, 1/8 …", text)
	}
	return Fraction{Of: int(of)}, nil
}

// String names the part of the combinations. A nil fraction is all of them.
func (f *Fraction) String() string {
	if f == nil {
		return "all combinations"
	}
	return fmt.Sprintf("1/%d of the combinations", f.Of)
}

// planFraction completes the fraction of a design.
func (d Design) planFraction() error {
	plan, err := d.fractional()
	if err != nil {
		return fmt.Errorf("--fraction 1/%d: %w", d.Fraction.Of, err)
	}
	f := d.Fraction
	f.Resolution, f.Generators, f.Confounded = plan.Resolution(), nil, nil
	for i, g := range plan.Generators {
		made := Generator{Path: d.Factors[plan.Base+i].Path}
		for j, factor := range d.Factors {
			if g.Has(j) {
				made.Product = append(made.Product, factor.Path)
			}
		}
		f.Generators = append(f.Generators, made)
	}
	for _, c := range d.columns(plan) {
		if group := c.confounded(d.Factors); len(c.effects) > 1 {
			f.Confounded = append(f.Confounded, group)
		}
	}
	return nil
}

// fractional returns the design of a fraction, by the numbers of the factors.
func (d Design) fractional() (fractional.Design, error) {
	for _, f := range d.Factors {
		if len(f.Values) != 2 {
			return fractional.Design{}, fmt.Errorf("a fraction needs two values of each factor, but %s has %d; give two, or run all combinations", f.Path, len(f.Values))
		}
	}
	if d.OneAtATime {
		return fractional.Design{}, fmt.Errorf("there is no fraction of factors that vary one at a time; leave out --one-at-a-time or --fraction")
	}
	return fractional.New(len(d.Factors), bits.Len(uint(d.Fraction.Of))-1)
}

// settings returns the settings of the runs of a fraction. The first factor varies slowest.
func settings(plan fractional.Design, factors []Factor) [][]Setting {
	var all [][]Setting
	for _, run := range plan.Runs() {
		var made []Setting
		for i, high := range run {
			value := factors[i].Values[0]
			if high {
				value = factors[i].Values[1]
			}
			made = append(made, Setting{factors[i].Path, value})
		}
		all = append(all, made)
	}
	return all
}

// column is an effect that runs can measure: a main effect or an interaction of two factors,
// together with those that are confounded with it. The main effect comes first; there is at most
// one.
type column struct {
	effects []fractional.Effect
}

// columns returns the columns of all main effects, in the order of the factors, and then of all other
// interactions of two factors.
func (d Design) columns(plan fractional.Design) []column {
	var all []column
	at := map[fractional.Effect]int{}
	add := func(e fractional.Effect) {
		key := plan.Column(e)
		if _, known := at[key]; !known {
			at[key] = len(all)
			all = append(all, column{})
		}
		all[at[key]].effects = append(all[at[key]].effects, e)
	}
	for i := range d.Factors {
		add(fractional.Of(i))
	}
	for i := range d.Factors {
		for j := i + 1; j < len(d.Factors); j++ {
			add(fractional.Of(i, j))
		}
	}
	return all
}

// confounded returns the effects of a column by the paths of their factors.
func (c column) confounded(factors []Factor) Confounded {
	var made Confounded
	for _, e := range c.effects {
		var paths []string
		for i, f := range factors {
			if e.Has(i) {
				paths = append(paths, f.Path)
			}
		}
		if len(paths) == 1 {
			made.Path = paths[0]
		} else {
			made.Pairs = append(made.Pairs, [2]string(paths))
		}
	}
	return made
}
