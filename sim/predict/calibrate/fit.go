package calibrate

import (
	"fmt"
	"slices"

	"windtunnel.dev/sim/predict"
	"windtunnel.dev/sim/predict/costs"
	"windtunnel.dev/sim/subject"
)

// Fit fits parameters to runs. All runs must be of one machine.
func Fit(runs []Run, seed uint64) (*costs.Parameters, error) {
	if len(runs) == 0 {
		return nil, fmt.Errorf("no run can be used")
	}
	p, err := costs.Fit(Observations(runs), len(runs), seed)
	if err != nil {
		return nil, err
	}
	p.Controller, p.Machine, p.Processors = subject.Bundled, runs[0].Machine, runs[0].Input.Processors
	p.Range = map[string]costs.Interval{}
	for _, r := range runs {
		if r.Input.Processors != p.Processors {
			return nil, fmt.Errorf("%s was made with %d processors, %s with %d: use runs of one machine", r.Folder, r.Input.Processors, runs[0].Folder, p.Processors)
		}
		p.Scenarios = append(p.Scenarios, r.Scenario)
		for name, value := range predict.Quantities(r.Input) {
			i, ok := p.Range[name]
			if !ok {
				i = costs.Interval{Low: value, High: value}
			}
			p.Range[name] = costs.Interval{Low: min(i.Low, value), High: max(i.High, value)}
		}
	}
	slices.Sort(p.Scenarios)
	p.Scenarios = slices.Compact(p.Scenarios)
	return p, nil
}
