package migrate

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"time"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/migrate/report"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/trial"
)

// Costs say how the costs of changes are measured.
type Costs struct {
	Subjects []scenario.Subject // first the controller to leave; their names are those of the sides
	Size     report.Size        // of the population
	Length   time.Duration      // of each timeline; 0 means its own
	Driver   driver.Driver
	Watch    trial.Watch
}

// changes are the kinds of changes whose costs are measured.
var changes = []struct{ name, churn, rate, summary string }{
	{"endpoints", scenario.RollingUpdate, "1/s", "Rolling updates replace the pods of one service after another."},
	{"new-host", scenario.NewHosts, "30/m", "Ingresses are created, each for a new host."},
}

// scenarioText is the scenario of a kind of change. Its two rounds run the subjects in the order
// A B B A, so that changes of the machine affect all alike.
const scenarioText = `apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: migrate-%s}
spec:
  summary: %s
  rounds: 2
  population: {services: %d, pods: %d, ingresses: %d}
  traffic:
  - {lane: http, rate: 50/s}
  timeline:
  - {at: 0s, churn: %s, rate: %s, for: 40s}
`

// scenario returns the scenario that measures the costs of change n.
func (c Costs) scenario(n int) (*scenario.Scenario, error) {
	kind := changes[n]
	text := fmt.Sprintf(scenarioText, kind.name, kind.summary, c.Size.Services, c.Size.Pods, c.Size.Ingresses, kind.churn, kind.rate)
	s, err := scenario.Parse("migrate-"+kind.name+".yaml", []byte(text), scenario.Known{})
	if err != nil {
		return nil, err
	}
	s.Subjects = c.Subjects
	return trial.OfLength(s, c.Length)
}

// Check returns an error if costs cannot be measured with the driver and the length.
func (c Costs) Check() error {
	for n := range changes {
		s, err := c.scenario(n)
		if err != nil {
			return err
		}
		if err := driver.Supports(c.Driver, s); err != nil {
			return err
		}
	}
	return nil
}

// measure measures the costs of all kinds of changes.
func (p Plan) measure(ctx context.Context) (*report.Costs, error) {
	costs := &report.Costs{Population: p.Costs.Size.String()}
	for n, kind := range changes {
		s, err := p.Costs.scenario(n)
		if err != nil {
			return costs, err
		}
		one := report.CostRun{Change: kind.name, Summary: kind.summary, Dir: path.Join(CostsDir, kind.name), Subjects: []report.Cost{}}
		if ctx.Err() != nil {
			one.Trouble = "not measured: interrupted"
		} else {
			fmt.Fprintf(p.Say, "measuring what changes cost: %s\n", kind.name)
			p.measureOne(ctx, s, &one)
		}
		costs.Runs = append(costs.Runs, one)
	}
	return costs, nil
}

// measureOne makes one run, and sets its costs.
func (p Plan) measureOne(ctx context.Context, s *scenario.Scenario, one *report.CostRun) {
	ended := trial.Do(ctx, trial.Trial{
		Scenario: s, Rewritten: true, Seed: s.Seed, Driver: p.Costs.Driver, Watch: p.Costs.Watch,
		Dir: filepath.Join(p.Dir, filepath.FromSlash(one.Dir)),
	})
	switch {
	case ctx.Err() != nil:
		one.Trouble = "interrupted"
	case ended.Outcome == judge.Skipped || ended.Outcome == judge.NotRun:
		one.Trouble = "not measured: " + ended.Err.Error()
	case ended.Cut != nil:
		one.Trouble = "cut short: " + ended.Cut.Error()
	}
	for _, subject := range ended.Measured.Result.Subjects {
		one.Subjects = append(one.Subjects, report.CostOf(subject))
	}
}
