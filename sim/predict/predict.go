// Package predict answers questions about clusters that are too large for the available machines:
// it simulates the control loop with costs that were fitted from runs. Its one rule: an answer is a
// distribution, and states its error on held-out runs and how far it extrapolates.
package predict

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"windtunnel.dev/sim/predict/costs"
	"windtunnel.dev/sim/predict/figure"
	"windtunnel.dev/sim/predict/question"
	"windtunnel.dev/sim/predict/simulate"
)

// Schema is the version of the format of a Prediction.
const Schema = "windtunnel.dev/prediction/v1"

// Prediction is the answer to a question.
type Prediction struct {
	Schema     string            `json:"schema"`     // the version of this format
	Question   question.Question `json:"question"`   // with its defaults
	Parameters Parameters        `json:"parameters"` // from which it was predicted
	Answers    []Answer          `json:"answers"`    // one for each combination of the sweep
}

// Parameters says where the costs come from.
type Parameters struct {
	File       string            `json:"file"`       // of the parameters; "" if they are the built-in ones
	Controller string            `json:"controller"` // of the runs
	Machine    map[string]string `json:"machine"`    // on which they were made
	Runs       int               `json:"runs"`       // from which the costs were fitted
	HeldOut    int               `json:"heldOut"`    // runs with which predictions were compared; 0: never
}

// Answer is the prediction for one combination of the values of the sweep.
type Answer struct {
	Values     map[string]string `json:"values"`               // of the sweep, by setting
	Cluster    simulate.Cluster  `json:"cluster"`              // at the beginning
	Settings   simulate.Settings `json:"settings"`             // with their defaults
	Load       float64           `json:"load"`                 // share of the processors that requests need; the simulation gives them at most 0.9
	Figures    []Value           `json:"figures"`              // in the order of reports
	Conditions []Verdict         `json:"conditions,omitempty"` // of the question, in its order
	Meets      float64           `json:"meets"`                // share of the simulated runs that meet all conditions; 1 without conditions
	Beyond     []Beyond          `json:"beyond"`               // quantities that are outside of the fitted range
	Staleness  []Point           `json:"staleness"`            // the distribution of staleness over all changes of all runs
	Course     []simulate.Step   `json:"course"`               // generations and memory of nginx over time, in the first run
}

// Value is the distribution of a figure over the simulated runs.
type Value struct {
	Name   string       `json:"name"`
	Unit   figure.Unit  `json:"unit"`
	Median float64      `json:"median"`
	Low    float64      `json:"low"`                         // 5 % of the runs are below
	High   float64      `json:"high"`                        // 5 % of the runs are above
	Error  *costs.Error `json:"error" jsonschema:"nullable"` // of predictions of held-out runs; null: never compared
	// Predictable says whether that error is small: at most 15 % in the median and 40 % at worst.
	Predictable bool `json:"predictable"`
}

// Verdict is how often a condition holds.
type Verdict struct {
	Condition string  `json:"condition"` // as written
	Figure    string  `json:"figure"`
	Bound     float64 `json:"bound"` // in the unit of the figure
	Share     float64 `json:"share"` // of the simulated runs
}

// Beyond is a quantity of the question that is outside of what the costs were fitted over.
type Beyond struct {
	Quantity string  `json:"quantity"`
	Value    float64 `json:"value"`
	Low      float64 `json:"low"`   // of the fitted range
	High     float64 `json:"high"`  // of the fitted range
	Times    float64 `json:"times"` // how many times it is above the range, or below it; at least 1; 0 if no run had any of it
}

// Factor is Times, and infinite if no run had any of the quantity.
func (b Beyond) Factor() float64 {
	if b.Times == 0 {
		return math.Inf(1)
	}
	return b.Times
}

// Point is a point of a distribution: a share of the changes has at most this staleness.
type Point struct {
	Share   float64 `json:"share"`
	Seconds float64 `json:"seconds"`
}

// Ask answers a question. progress is called after each simulated run, with the number of runs that
// are done and of all runs; it may be nil.
func Ask(q question.Question, p *costs.Parameters, progress func(done, of int)) (*Prediction, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	conditions, err := conditionsOf(q)
	if err != nil {
		return nil, err
	}
	points, err := q.Points()
	if err != nil {
		return nil, err
	}
	prediction := &Prediction{Schema: Schema, Question: q, Parameters: Parameters{Controller: p.Controller, Machine: p.Machine, Runs: p.Runs}}
	if p.Validation != nil {
		prediction.Parameters.HeldOut = p.Validation.Runs
	}
	for i, point := range points {
		in, err := point.Spec.Input(p.Processors)
		if err != nil {
			return nil, err
		}
		outcomes := Runs(in, p, q.Seed, q.Runs, func(done int) {
			if progress != nil {
				progress(i*q.Runs+done, len(points)*q.Runs)
			}
		})
		answer := answerOf(outcomes, p, conditions)
		answer.Values, answer.Cluster, answer.Settings = point.Values, in.Cluster, in.Settings
		answer.Load = in.RequestRatePerProcessor() * p.Point()[simulate.Request].Per[simulate.Fixed]
		answer.Beyond = beyond(in, p)
		prediction.Answers = append(prediction.Answers, answer)
	}
	return prediction, nil
}

// Runs simulates a number of runs, each with another draw of the costs. done is called after each.
func Runs(in simulate.Input, p *costs.Parameters, seed uint64, runs int, done func(int)) []simulate.Outcome {
	var outcomes []simulate.Outcome
	for run := range runs {
		outcomes = append(outcomes, simulate.Run(in, p.Draw(run), seed<<20+uint64(run)))
		done(run + 1)
	}
	return outcomes
}

func conditionsOf(q question.Question) ([]figure.Condition, error) {
	var all []figure.Condition
	for _, text := range q.Where {
		conditions, err := figure.ParseConditions(text)
		if err != nil {
			return nil, fmt.Errorf("where: %w", err)
		}
		all = append(all, conditions...)
	}
	return all, nil
}

func answerOf(outcomes []simulate.Outcome, p *costs.Parameters, conditions []figure.Condition) Answer {
	answer := Answer{Staleness: distribution(outcomes), Course: thin(outcomes[0].Steps)}
	for _, f := range figure.Table {
		answer.Figures = append(answer.Figures, ValueOf(f, outcomes, p))
	}
	all := 0
	for _, outcome := range outcomes {
		met := true
		for _, c := range conditions {
			met = met && c.Holds(c.Figure.Of(outcome))
		}
		if met {
			all++
		}
	}
	answer.Meets = float64(all) / float64(len(outcomes))
	for _, c := range conditions {
		holds := 0
		for _, outcome := range outcomes {
			if c.Holds(c.Figure.Of(outcome)) {
				holds++
			}
		}
		answer.Conditions = append(answer.Conditions, Verdict{Condition: c.Text, Figure: c.Figure.Name, Bound: c.Bound, Share: float64(holds) / float64(len(outcomes))})
	}
	return answer
}

// ValueOf returns the distribution of a figure.
func ValueOf(f figure.Figure, outcomes []simulate.Outcome, p *costs.Parameters) Value {
	var values []float64
	for _, outcome := range outcomes {
		values = append(values, f.Of(outcome))
	}
	slices.Sort(values)
	value := Value{
		Name: f.Name, Unit: f.Unit,
		Median: figure.Quantile(0.5, values), Low: figure.Quantile(0.05, values), High: figure.Quantile(0.95, values),
	}
	if p.Validation == nil {
		return value
	}
	if e, ok := p.Validation.Figures[f.Name]; ok {
		value.Error, value.Predictable = &e, e.Predictable()
	}
	return value
}

// distribution returns the staleness of all changes of all runs at each percent.
func distribution(outcomes []simulate.Outcome) []Point {
	var all []float64
	for _, outcome := range outcomes {
		for _, last := range outcome.Last {
			all = append(all, last.Seconds())
		}
	}
	slices.Sort(all)
	points := []Point{} // not nil, which is null in JSON
	for percent := range 101 {
		if len(all) > 0 {
			share := float64(percent) / 100
			points = append(points, Point{share, figure.Quantile(share, all)})
		}
	}
	return points
}

// mostSteps limits the steps of a course, because a plot has no finer resolution.
const mostSteps = 500

// thin returns at most mostSteps steps, and always the one with the most memory.
func thin(steps []simulate.Step) []simulate.Step {
	each := (len(steps) + mostSteps - 1) / mostSteps
	if each <= 1 {
		return steps
	}
	var kept []simulate.Step
	for group := range slices.Chunk(steps, each) {
		kept = append(kept, slices.MaxFunc(group, func(a, b simulate.Step) int { return cmp.Compare(a.Memory, b.Memory) }))
	}
	return kept
}

// Quantities are those of an input that parameters have a range for.
func Quantities(in simulate.Input) map[string]float64 {
	changes := 0.0
	for _, stream := range in.Changes {
		changes += stream.Rate
	}
	syncRate := in.Settings.DynamicSyncRate
	if syncRate == 0 {
		syncRate = in.Settings.SyncRate
	}
	return map[string]float64{
		"ingresses":  float64(in.Cluster.Ingresses),
		"services":   float64(in.Cluster.Services),
		"endpoints":  float64(in.Cluster.Endpoints),
		"workers":    float64(in.Settings.Workers),
		"processors": float64(in.Processors),
		"changes/s":  changes,
		"requests/s": in.RequestRate(),
		"reloads/s":  in.Settings.SyncRate,
		"syncs/s":    syncRate,
	}
}

// beyond returns the quantities that are outside of the fitted range, the farthest first.
func beyond(in simulate.Input, p *costs.Parameters) []Beyond {
	all := []Beyond{}
	quantities := Quantities(in)
	for _, name := range slices.Sorted(maps.Keys(quantities)) {
		value, r := quantities[name], p.Range[name]
		b := Beyond{Quantity: name, Value: value, Low: r.Low, High: r.High}
		switch {
		case value > 0 && r.High == 0:
		case value > r.High:
			b.Times = value / r.High
		case value < r.Low && value > 0:
			b.Times = r.Low / value
		default:
			continue
		}
		all = append(all, b)
	}
	slices.SortStableFunc(all, func(a, b Beyond) int { return cmp.Compare(b.Factor(), a.Factor()) })
	return all
}
