package costs

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"

	"windtunnel.dev/sim/predict/simulate"
)

// Observation is a measured value, with the costs that add up to it and their sizes. Most
// observations are of one cost; the memory of nginx is the sum of several.
type Observation struct {
	Model string // observations of a model are fitted together
	Run   int    // runs are resampled as a whole
	Value float64
	Of    []Part
	// Rate is the rate of the requests that were sent meanwhile, per second for each processor.
	Rate float64
	// Count says that the value is a number of rare events. Such values are added up, not averaged.
	Count bool
}

// Part is a cost in an observation.
type Part struct {
	Cost simulate.Name
	Size simulate.Size
}

// defaultDraws is the number of resampled fits that Fit makes.
const defaultDraws = 100

// Fit fits the costs to observations of runs, which are numbered from 0. The intervals are from a
// bootstrap: the runs are drawn again with replacement. Costs that were never observed are 0.
func Fit(observations []Observation, runs int, seed uint64) (*Parameters, error) {
	if runs == 0 || len(observations) == 0 {
		return nil, fmt.Errorf("no observations: there is nothing to fit")
	}
	models := map[string][]Observation{}
	for _, o := range observations {
		models[o.Model] = append(models[o.Model], o)
	}
	rows := map[string][]row{}
	for name, model := range models {
		rows[name] = medians(model)
	}
	p := &Parameters{Runs: runs, Draws: Draws{Columns: Columns()}}
	point := fitAll(rows, ones(runs))
	random := rand.New(rand.NewPCG(seed, 1))
	var draws []simulate.Costs
	for range defaultDraws {
		draws = append(draws, fitAll(rows, resample(runs, random)))
	}
	for _, draw := range draws {
		p.Draws.Rows = append(p.Draws.Rows, rowOf(draw))
	}
	for i, row := range simulate.Table {
		fitted := Fitted{Name: row.Name, What: row.Doc, Unit: row.Unit, Terms: map[string]Estimate{}}
		fitted.Observations, fitted.Runs = counts(observations, simulate.Name(i))
		if model := modelOf(observations, simulate.Name(i)); model != "" {
			within, between := spreadOf(simulate.Name(i), models[model], rows[model], point)
			fitted.Spread, fitted.Between = rounded(within), rounded(between)
		}
		for _, term := range row.Terms {
			var values []float64
			for _, draw := range draws {
				values = append(values, draw[i].Per[term])
			}
			slices.Sort(values)
			fitted.Terms[termNames[term]] = Estimate{
				Value: rounded(point[i].Per[term]),
				Low:   rounded(stat.Quantile(0.025, stat.Empirical, values, nil)),
				High:  rounded(stat.Quantile(0.975, stat.Empirical, values, nil)),
			}
		}
		p.Costs = append(p.Costs, fitted)
	}
	return p, nil
}

func ones(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = 1
	}
	return all
}

// resample returns how often each run is drawn.
func resample(runs int, random *rand.Rand) []int {
	drawn := make([]int, runs)
	for range runs {
		drawn[random.IntN(runs)]++
	}
	return drawn
}

// fitAll fits all models. A model without observations in the drawn runs is fitted to all runs.
func fitAll(models map[string][]row, drawn []int) simulate.Costs {
	weighted := map[string][]row{}
	most := 0.0
	for name, rows := range models {
		weighted[name] = weigh(rows, drawn)
		if len(weighted[name]) == 0 {
			weighted[name] = weigh(rows, ones(len(drawn)))
		}
		for _, r := range weighted[name] {
			most = max(most, r.rate)
		}
	}
	costs, least := fitBeside(0, weighted)
	for i := 1; most > 0 && i <= requestSteps; i++ {
		request := busiest / most * float64(i) / requestSteps
		if fitted, loss := fitBeside(request, weighted); loss < least {
			costs, least = fitted, loss
		}
	}
	return costs
}

// The fit tries several CPU times of a request, and keeps the one with the best fit of the other
// costs.
const (
	requestSteps = 40  // the number of values, beside 0
	busiest      = 0.8 // with the largest value, the share of the processors that the requests of the busiest run take
)

// fitBeside fits all models for a given CPU time of a request, in seconds. It also returns the sum
// of the squares of the relative errors.
func fitBeside(request float64, models map[string][]row) (costs simulate.Costs, loss float64) {
	costs[simulate.Request].Per[simulate.Fixed] = request
	for _, name := range slices.Sorted(maps.Keys(models)) {
		loss += fitModel(&costs, models[name])
	}
	return costs, loss
}

// row is the median of a run's observations of the same size.
type row struct {
	run    int
	rate   float64 // of requests
	of     []Part
	count  bool
	value  float64
	weight float64
}

// medians returns the rows of a model, in the order of their first observations. Each run has the same
// weight, however many sizes its observations have.
func medians(observations []Observation) []row {
	groups := map[string][]float64{}
	sizes := map[int]int{}
	var rows []row
	var keys []string
	for _, o := range observations {
		k := keyOf(o.Run, o.Of)
		if groups[k] == nil {
			keys, rows = append(keys, k), append(rows, row{run: o.Run, rate: o.Rate, of: o.Of, count: o.Count})
			sizes[o.Run]++
		}
		groups[k] = append(groups[k], o.Value)
	}
	for i, k := range keys {
		values := groups[k]
		slices.Sort(values)
		rows[i].value = stat.Quantile(0.5, stat.LinInterp, values, nil)
		rows[i].weight = 1 / float64(sizes[rows[i].run])
	}
	return rows
}

// weigh returns the rows of the runs that were drawn.
func weigh(rows []row, drawn []int) []row {
	var weighted []row
	for _, r := range rows {
		if r.weight *= float64(drawn[r.run]); r.weight > 0 {
			weighted = append(weighted, r)
		}
	}
	return weighted
}

// column is a term of a cost.
type column struct {
	cost simulate.Name
	term simulate.Term
}

// fitModel fits the costs of a model: the terms of 0 or more with the least sum of squared relative
// errors, which it returns. For counts, it is their ratio to the size, and it returns 0.
func fitModel(costs *simulate.Costs, rows []row) (loss float64) {
	if rows[0].count {
		fitRatio(costs, rows)
		return 0
	}
	columns := columnsOf(rows)
	// Values near zero would get all the weight.
	least := 0.0
	for _, r := range rows {
		least = max(least, r.value)
	}
	least /= 1000
	var x [][]float64
	var y []float64
	for _, r := range rows {
		weight := math.Sqrt(r.weight) / max(r.value, least, math.SmallestNonzeroFloat32)
		line := make([]float64, len(columns))
		for _, part := range r.of {
			slower := slowdown(part.Cost, r.rate, *costs)
			for i, c := range columns {
				if c.cost == part.Cost {
					line[i] += part.Size[c.term] * slower * weight
				}
			}
		}
		x, y = append(x, line), append(y, r.value*weight)
	}
	solution := nonNegative(x, y)
	for i, value := range solution {
		costs[columns[i].cost].Per[columns[i].term] = value
	}
	for i, line := range x {
		residual := floats.Dot(line, solution) - y[i]
		loss += residual * residual
	}
	return loss
}

// columnsOf returns the terms that occur in rows, sorted.
func columnsOf(rows []row) []column {
	var columns []column
	for _, r := range rows {
		for _, part := range r.of {
			for _, term := range simulate.Table[part.Cost].Terms {
				if c := (column{part.Cost, term}); part.Size[term] != 0 && !slices.Contains(columns, c) {
					columns = append(columns, c)
				}
			}
		}
	}
	slices.SortFunc(columns, func(a, b column) int {
		if a.cost != b.cost {
			return int(a.cost - b.cost)
		}
		return int(a.term - b.term)
	})
	return columns
}

func slowdown(cost simulate.Name, rate float64, costs simulate.Costs) float64 {
	return simulate.Slowdown(cost, rate, costs[simulate.Request].Per[simulate.Fixed])
}

// fitRatio fits the fixed term of the only cost of a model.
func fitRatio(costs *simulate.Costs, rows []row) {
	value, size := 0.0, 0.0
	for _, r := range rows {
		value += r.weight * r.value
		size += r.weight * r.of[0].Size[simulate.Fixed]
	}
	if size > 0 {
		costs[rows[0].of[0].Cost].Per[simulate.Fixed] = value / size
	}
}

// spreadOf returns the spread of a cost within a run, and between runs. Each is half of the range
// of the middle 68 % of the logarithms. For a cost that is only observed as part of a sum, the
// spread between runs is that of the sum.
func spreadOf(cost simulate.Name, observations []Observation, rows []row, costs simulate.Costs) (within, between float64) {
	medians := map[string]float64{}
	var errors []float64
	for _, r := range rows {
		if fitted := at(r.of, r.rate, costs); has(r.of, cost) && !r.count && fitted > 0 && r.value > 0 {
			medians[keyOf(r.run, r.of)] = r.value
			errors = append(errors, math.Log(r.value/fitted))
		}
	}
	between = halfRange(errors)
	errors = nil
	for _, o := range observations {
		if median := medians[keyOf(o.Run, o.Of)]; len(o.Of) == 1 && median > 0 && o.Value > 0 {
			errors = append(errors, math.Log(o.Value/median))
		}
	}
	return halfRange(errors), between
}

// at returns the sum of the costs of an observation, given the rate of requests.
func at(of []Part, rate float64, costs simulate.Costs) float64 {
	sum := 0.0
	for _, part := range of {
		sum += costs[part.Cost].At(part.Size) * slowdown(part.Cost, rate, costs)
	}
	return sum
}

func has(of []Part, cost simulate.Name) bool {
	return slices.ContainsFunc(of, func(p Part) bool { return p.Cost == cost })
}

func halfRange(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	slices.Sort(values)
	return (stat.Quantile(0.84, stat.LinInterp, values, nil) - stat.Quantile(0.16, stat.LinInterp, values, nil)) / 2
}

// keyOf identifies the observations of a run that have the same size.
func keyOf(run int, of []Part) string { return fmt.Sprint(run, of) }

func rowOf(costs simulate.Costs) []float64 {
	var values []float64
	for i, row := range simulate.Table {
		for _, term := range row.Terms {
			values = append(values, rounded(costs[i].Per[term]))
		}
	}
	return values
}

// rounded returns a number with four significant digits, which is more precise than any fit.
func rounded(x float64) float64 {
	if x == 0 {
		return 0
	}
	scale := math.Pow(10, 3-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*scale) / scale
}

// modelOf returns the model of the observations of a cost, or "" if there are none.
func modelOf(observations []Observation, cost simulate.Name) string {
	for _, o := range observations {
		if has(o.Of, cost) {
			return o.Model
		}
	}
	return ""
}

// counts returns the number of observations of a cost, and of the runs with such observations. For
// the cost of a request, it counts the observations of costs that requests increase.
func counts(observations []Observation, cost simulate.Name) (count, runs int) {
	seen := map[int]bool{}
	for _, o := range observations {
		beside := cost == simulate.Request && o.Rate > 0 && simulate.Slowdown(o.Of[0].Cost, o.Rate, 1) > 1
		if beside || has(o.Of, cost) {
			count++
			seen[o.Run] = true
		}
	}
	return count, len(seen)
}
