package sweep

import (
	"maps"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Confidence is the probability with which an interval contains the true difference.
const Confidence = 0.95

// Effect is the difference that a value of a factor makes, compared with the factor's first value: the
// mean over the combinations of the other factors.
type Effect struct {
	Subject    string  `json:"subject"`
	Figure     string  `json:"figure"`
	Path       string  `json:"path"` // of the factor
	From       string  `json:"from"` // its first value
	To         string  `json:"to"`   // the value that is compared with it
	Base       float64 `json:"base"` // the mean of the figure at From; times in seconds, memory in bytes
	Difference         // of the means
	// Aliases are the interactions of two factors that a fraction of the combinations cannot
	// distinguish from the effect. The difference contains half of each.
	Aliases [][2]string `json:"aliases,omitempty"`
}

// Interaction is the difference that a second factor makes to the effect of a first one: the effect of
// the first factor's last value at the second factor's last value, minus that at its first value.
type Interaction struct {
	Subject string    `json:"subject"`
	Figure  string    `json:"figure"`
	Paths   [2]string `json:"paths"`
	Difference
	// Aliases are the other interactions of two factors that a fraction of the combinations cannot
	// distinguish from this one: the difference is their sum.
	Aliases [][2]string `json:"aliases,omitempty"`
}

// Difference is a difference of means with its interval.
type Difference struct {
	Mean float64 `json:"mean"`
	// Low and High are the bounds of the 95 % confidence interval. They are meaningless without Known.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Known says that there is an interval. Its scatter comes from repeated runs of the same
	// combination or, without them, from the combinations of the other factors or, in a fraction,
	// from the residuals of the model of main effects and interactions of two factors.
	Known bool `json:"known"`
}

// Matters reports whether the difference is significant.
func (d Difference) Matters() bool { return d.Known && (d.Low > 0 || d.High < 0) }

// cells are the values of one figure of one subject, by combination. The key of a combination is the
// list of the indices of its values.
type cells struct {
	factors []Factor
	byKey   map[string][]float64
}

func newCells(factors []Factor) cells { return cells{factors, map[string][]float64{}} }

// add adds the value of a run of a combination.
func (c cells) add(combination Combination, value float64) {
	var levels []int
	for _, f := range c.factors {
		levels = append(levels, slices.Index(f.Values, combination.ValueOf(f)))
	}
	key := keyOf(levels)
	c.byKey[key] = append(c.byKey[key], value)
}

func keyOf(levels []int) string {
	var key strings.Builder
	for _, level := range levels {
		key.WriteRune(rune(level + 1))
	}
	return key.String()
}

// levelsOf is the inverse of keyOf.
func levelsOf(key string) (levels []int) {
	for _, level := range key {
		levels = append(levels, int(level)-1)
	}
	return levels
}

// evaluate returns the effects and interactions of a design.
func (c cells) evaluate(d Design) ([]Effect, []Interaction) {
	if d.Fraction != nil {
		return c.fitted(d)
	}
	if d.OneAtATime { // no cell has two other values, so interactions cannot be measured
		return c.effects(), nil
	}
	return c.effects(), c.interactions()
}

// effects returns the effects of all values of all factors.
func (c cells) effects() []Effect {
	var all []Effect
	for i, f := range c.factors {
		for to := 1; to < len(f.Values); to++ {
			var contrasts []contrast
			var base []float64
			for _, others := range c.others(i) {
				at := func(level int) []float64 { return c.byKey[keyOf(with(others, i, level))] }
				if made, ok := contrastOf([]float64{1, -1}, at(to), at(0)); ok {
					contrasts = append(contrasts, made)
					base = append(base, stat.Mean(at(0), nil))
				}
			}
			if d, ok := c.difference(contrasts); ok {
				all = append(all, Effect{Path: f.Path, From: f.Values[0], To: f.Values[to], Base: stat.Mean(base, nil), Difference: d})
			}
		}
	}
	return all
}

// interactions returns the interactions of all pairs of factors, between their first and last values.
func (c cells) interactions() []Interaction {
	var all []Interaction
	for i := range c.factors {
		for j := i + 1; j < len(c.factors); j++ {
			lastI, lastJ := len(c.factors[i].Values)-1, len(c.factors[j].Values)-1
			if lastI == 0 || lastJ == 0 {
				continue
			}
			var contrasts []contrast
			for _, others := range c.others(i, j) {
				at := func(a, b int) []float64 { return c.byKey[keyOf(with(with(others, i, a), j, b))] }
				if made, ok := contrastOf([]float64{1, -1, -1, 1}, at(lastI, lastJ), at(0, lastJ), at(lastI, 0), at(0, 0)); ok {
					contrasts = append(contrasts, made)
				}
			}
			if d, ok := c.difference(contrasts); ok {
				all = append(all, Interaction{Paths: [2]string{c.factors[i].Path, c.factors[j].Path}, Difference: d})
			}
		}
	}
	return all
}

// others returns the levels of the factors, with 0 for the factors besides. It returns only combinations
// that have cells; there are few if one factor varies at a time.
func (c cells) others(besides ...int) [][]int {
	found := map[string][]int{}
	for key := range c.byKey {
		levels := levelsOf(key)
		for _, i := range besides {
			levels[i] = 0
		}
		found[keyOf(levels)] = levels
	}
	var all [][]int
	for _, key := range slices.Sorted(maps.Keys(found)) {
		all = append(all, found[key])
	}
	return all
}

func with(levels []int, factor, level int) []int {
	levels = slices.Clone(levels)
	levels[factor] = level
	return levels
}

// contrast is a difference of means of cells.
type contrast struct {
	value  float64
	inRuns float64 // its variance is this times the variance of a run
}

// contrastOf returns a contrast of cells with these weights; false if a cell has no value.
func contrastOf(weights []float64, values ...[]float64) (contrast, bool) {
	var made contrast
	for i, cell := range values {
		if len(cell) == 0 {
			return contrast{}, false
		}
		made.value += weights[i] * stat.Mean(cell, nil)
		made.inRuns += weights[i] * weights[i] / float64(len(cell))
	}
	return made, true
}

// difference returns the mean of contrasts, with an interval of Student's t. The variance of a run is
// pooled from the cells with several runs; without such cells, the scatter of the contrasts counts.
func (c cells) difference(contrasts []contrast) (Difference, bool) {
	if len(contrasts) == 0 {
		return Difference{}, false
	}
	var values []float64
	inRuns := 0.0
	for _, one := range contrasts {
		values, inRuns = append(values, one.value), inRuns+one.inRuns
	}
	n := float64(len(values))
	mean, deviation := stat.MeanStdDev(values, nil)
	variance, freedom := c.pooled()
	deviationOfMean := math.Sqrt(variance*inRuns) / n
	if freedom == 0 {
		deviationOfMean, freedom = deviation/math.Sqrt(n), n-1
	}
	d := Difference{Mean: mean}
	if len(values) == 1 {
		d.Mean = values[0]
	}
	if freedom > 0 {
		half := deviationOfMean * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: freedom}.Quantile(1-(1-Confidence)/2)
		d.Low, d.High, d.Known = d.Mean-half, d.Mean+half, true
	}
	return d, true
}

// pooled returns the variance of a run within its combination, and its degrees of freedom.
func (c cells) pooled() (variance, freedom float64) {
	squares := 0.0
	for _, key := range slices.Sorted(maps.Keys(c.byKey)) {
		if values := c.byKey[key]; len(values) > 1 {
			squares += stat.Variance(values, nil) * float64(len(values)-1)
			freedom += float64(len(values) - 1)
		}
	}
	if freedom == 0 {
		return 0, 0
	}
	return squares / freedom, freedom
}
