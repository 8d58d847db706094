package calibrate

import (
	"math"
	"slices"
	"time"

	"windtunnel.dev/sim/predict"
	"windtunnel.dev/sim/predict/costs"
	"windtunnel.dev/sim/predict/figure"
)

// Comparison compares a prediction with a held-out run.
type Comparison struct {
	Run     Run
	Figures []Compared
}

// Compared is a figure of a run.
type Compared struct {
	Figure    figure.Figure
	Measured  float64
	Predicted predict.Value
	Error     float64 // as a share of the measured value
	Within    bool    // the measured value is in the predicted interval
}

// simulations is the number of simulated runs for each held-out run.
const simulations = 40

// measurements returns the value of each figure in a run, by the figure's name. Figures that the run
// does not have are left out.
func measurements(r Run) map[string]float64 {
	result := r.Result
	all := map[string]float64{
		"unserved": float64(result.Changes.Unconverged), "reloads": float64(result.Reloads),
		"generations": float64(result.Workers.Alive), "workers": float64(result.Workers.Most),
		"memory.controller": r.ControllerMemory, "lost": float64(result.Requests.Failed),
	}
	if first, last := r.staleness(); len(last) > 0 {
		for name, of := range map[string][]time.Duration{"first": first, "staleness": last} {
			all[name+".p50"] = figure.Quantile(0.5, of).Seconds()
			all[name+".p99"] = figure.Quantile(0.99, of).Seconds()
		}
	}
	if result.Memory.PeakPSS > 0 {
		all["memory.nginx"] = mib(result.Memory.PeakPSS)
		all["memory.peak"] = mib(result.Memory.PeakPSS) + r.ControllerMemory
	}
	return all
}

// Validate predicts each run from its scenario, and compares the prediction with the measurements.
func Validate(runs []Run, p *costs.Parameters) ([]Comparison, *costs.Validation) {
	v := &costs.Validation{Runs: len(runs), Figures: map[string]costs.Error{}}
	var all []Comparison
	errors := map[string][]float64{}
	within := map[string]int{}
	for _, r := range runs {
		v.Scenarios, v.Ingresses = append(v.Scenarios, r.Scenario), append(v.Ingresses, r.Input.Cluster.Ingresses)
		c := Comparison{Run: r}
		outcomes := predict.Runs(r.Input, p, r.Question.Seed, simulations, func(int) {})
		measured := measurements(r)
		for _, f := range figure.Table {
			value, ok := measured[f.Name]
			if !ok {
				continue
			}
			compared := Compared{Figure: f, Measured: value, Predicted: predict.ValueOf(f, outcomes, p)}
			compared.Error = math.Abs(compared.Predicted.Median-value) / max(value, f.Least)
			compared.Within = compared.Predicted.Low <= value && value <= compared.Predicted.High
			c.Figures = append(c.Figures, compared)
			errors[f.Name] = append(errors[f.Name], compared.Error)
			if compared.Within {
				within[f.Name]++
			}
		}
		all = append(all, c)
	}
	for name, list := range errors {
		slices.Sort(list)
		v.Figures[name] = costs.Error{
			Runs: len(list), Median: figure.Quantile(0.5, list), Worst: list[len(list)-1], Within: float64(within[name]) / float64(len(list)),
		}
	}
	slices.Sort(v.Scenarios)
	v.Scenarios = slices.Compact(v.Scenarios)
	slices.Sort(v.Ingresses)
	v.Ingresses = slices.Compact(v.Ingresses)
	return all, v
}
