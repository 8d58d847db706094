package sweep

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// negligible is the share of the largest value below which a difference comes from rounding.
const negligible = 1e-9

// fitted returns the effects and interactions of a fraction, from the least-squares fit of a linear
// model of main effects and interactions of two factors. If no run is missing, they are differences of
// means. There are none if the runs do not suffice to distinguish the columns of the model, or if all
// values are the same.
func (c cells) fitted(d Design) ([]Effect, []Interaction) {
	plan, err := d.fractional()
	if err != nil {
		return nil, nil
	}
	columns := d.columns(plan)
	model := c.fit(columns)
	if model == nil {
		return nil, nil
	}
	var effects []Effect
	var interactions []Interaction
	for i, column := range columns {
		group := column.confounded(d.Factors)
		if i >= len(d.Factors) {
			interactions = append(interactions, Interaction{Paths: group.Pairs[0], Aliases: group.Pairs[1:], Difference: model.difference(i, 4)})
			continue
		}
		f := d.Factors[i]
		effects = append(effects, Effect{
			Path: f.Path, From: f.Values[0], To: f.Values[1], Aliases: group.Pairs,
			Base: model.mean - model.coefficients[i], Difference: model.difference(i, 2),
		})
	}
	return effects, interactions
}

// linear is a fitted model: a mean, and for each column a coefficient that is added to it or, in runs
// with the column's other sign, subtracted.
type linear struct {
	mean         float64
	coefficients []float64
	deviations   []float64 // of the coefficients
	freedom      float64   // degrees of freedom of the deviations; 0: they are unknown
}

// difference returns a multiple of a coefficient with its interval. An effect is twice the coefficient,
// and an interaction, as a difference of effects, four times.
func (m *linear) difference(column int, times float64) Difference {
	d := Difference{Mean: times * m.coefficients[column]}
	if m.freedom > 0 {
		half := times * m.deviations[column] * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: m.freedom}.Quantile(1-(1-Confidence)/2)
		d.Low, d.High, d.Known = d.Mean-half, d.Mean+half, true
	}
	return d
}

// fit fits the model of these columns. It returns nil if there are too few values, or if all values
// are the same. The variance of a run is that between repeated runs or, without them, that of the
// residuals.
func (c cells) fit(columns []column) *linear {
	rows, values := c.rows(columns)
	if len(values) <= len(columns) || slices.Min(values) == slices.Max(values) {
		return nil
	}
	x, y := mat.NewDense(len(values), len(columns)+1, rows), mat.NewVecDense(len(values), values)
	var products mat.SymDense
	products.SymOuterK(1, x.T())
	var factorized mat.Cholesky
	if !factorized.Factorize(&products) || factorized.Cond() > 1e8 {
		return nil
	}
	var right, solved, rest mat.VecDense
	right.MulVec(x.T(), y)
	var inverse mat.SymDense
	if factorized.SolveVecTo(&solved, &right) != nil || factorized.InverseTo(&inverse) != nil {
		return nil
	}
	rest.MulVec(x, &solved)
	rest.SubVec(y, &rest)
	least := negligible * max(math.Abs(slices.Min(values)), math.Abs(slices.Max(values)))
	variance, freedom := c.pooled()
	if freedom == 0 {
		freedom = float64(len(values) - len(columns) - 1)
		variance = mat.Dot(&rest, &rest) / max(freedom, 1)
	}
	m := &linear{mean: solved.AtVec(0), freedom: freedom}
	for i := range columns {
		m.coefficients = append(m.coefficients, unless(solved.AtVec(i+1), least))
		m.deviations = append(m.deviations, unless(math.Sqrt(variance*inverse.At(i+1, i+1)), least))
	}
	return m
}

// unless returns a value, or 0 if its absolute value is not above least.
func unless(value, least float64) float64 {
	if math.Abs(value) <= least {
		return 0
	}
	return value
}

// rows returns the matrix of the model, row by row, and the value of each row.
func (c cells) rows(columns []column) (rows, values []float64) {
	for _, key := range slices.Sorted(maps.Keys(c.byKey)) {
		var run []bool
		for _, level := range key {
			run = append(run, level > 1)
		}
		row := []float64{1}
		for _, column := range columns {
			row = append(row, column.effects[0].Sign(run))
		}
		for _, value := range c.byKey[key] {
			rows, values = append(rows, row...), append(values, value)
		}
	}
	return rows, values
}
