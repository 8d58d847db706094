package report

import (
	"fmt"
	"slices"
	"time"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
)

// Costs are the costs of changes of the cluster on each controller.
type Costs struct {
	// The population that was changed, in a sentence.
	Population string `json:"population"`
	// One kind of change each.
	Runs []CostRun `json:"runs"`
}

// CostRun is the cost of one kind of change.
type CostRun struct {
	// The change: endpoints, or new-host.
	Change string `json:"change"`
	// What was changed, in a sentence.
	Summary string `json:"summary"`
	// The folder of the run, with its log and its own report, below that of the migration.
	Dir string `json:"dir"`
	// Why it was not measured, or cut short. The costs then cover only the part that was seen.
	Trouble string `json:"trouble,omitempty"`
	// The controllers: first the one to leave.
	Subjects []Cost `json:"subjects"`
}

// Cost is the cost of changes on one controller.
type Cost struct {
	// The name of the controller.
	Name string `json:"name"`
	// Why the run says nothing about it. Empty if it does.
	Void []string `json:"void,omitempty"`
	// The number of changes.
	Changes int `json:"changes"`
	// The number of changes that not every worker served in time.
	Unconverged int `json:"unconverged"`
	// The median time from a change until every worker served it, in nanoseconds.
	ConvergeP50 time.Duration `json:"convergeP50"`
	// The longest such time, in nanoseconds.
	ConvergeMax time.Duration `json:"convergeMax"`
	// The number of requests that were sent meanwhile.
	Requests int `json:"requests"`
	// The number of requests that failed.
	Lost int `json:"lost"`
	// The number of reloads: new generations of workers, seen from outside.
	Reloads int `json:"reloads"`
	// The largest resident memory of the proxy's processes together, in bytes.
	PeakMemory int64 `json:"peakMemory"`
	// The processor time of the controller, in nanoseconds.
	ControllerCPU time.Duration `json:"controllerCPU"`
	// The processor time of the proxy, in nanoseconds.
	ProxyCPU time.Duration `json:"proxyCPU"`
	// Measurements that do not apply to it, such as reloads of a controller that has none.
	NotApplicable []measure.NotApplicable `json:"notApplicable,omitempty"`
}

// CostOf returns the costs of a subject from its measurements.
func CostOf(s measure.Subject) Cost {
	c := Cost{
		Name: s.Name, Changes: s.Changes.Made, Unconverged: s.Changes.Unconverged,
		ConvergeP50: s.Converge.Last.P50, ConvergeMax: s.Converge.Last.Max,
		Requests: s.Requests.Sent, Lost: s.Requests.Failed, Reloads: s.Reloads,
		PeakMemory: s.Memory.PeakRSS, ControllerCPU: s.CPU.Controller, ProxyCPU: s.CPU.Nginx,
		NotApplicable: s.NotApplicable,
	}
	if !s.Valid {
		c.Void = s.Invalid
		if len(c.Void) == 0 {
			c.Void = []string{"the run is not valid"}
		}
	}
	return c
}

// valid reports whether all runs were measured, and are valid for all controllers.
func (c Costs) valid() bool {
	return !slices.ContainsFunc(c.Runs, func(r CostRun) bool {
		return r.Trouble != "" || slices.ContainsFunc(r.Subjects, func(s Cost) bool { return len(s.Void) > 0 })
	})
}

// costRow is a row of the table of costs.
type costRow struct {
	Label string
	cell  func(Cost) string
}

// costRows are the rows of a kind of change, in order.
var costRows = []costRow{
	{"changes", func(c Cost) string {
		if c.Unconverged > 0 {
			return fmt.Sprintf("%d, %d not served in time", c.Changes, c.Unconverged)
		}
		return fmt.Sprint(c.Changes)
	}},
	{"served by all workers p50 / max", func(c Cost) string {
		if c.ConvergeMax == 0 {
			return "none"
		}
		return seconds(c.ConvergeP50) + " / " + seconds(c.ConvergeMax)
	}},
	{"lost requests", func(c Cost) string { return fmt.Sprintf("%d of %d", c.Lost, c.Requests) }},
	{"reloads", func(c Cost) string { return c.unlessNotApplicable("reloads", fmt.Sprint(c.Reloads)) }},
	{"peak memory of the proxy", func(c Cost) string { return report.Bytes(float64(c.PeakMemory)) }},
	{"CPU of controller + proxy", func(c Cost) string {
		return c.unlessNotApplicable("cpu.controller", seconds(c.ControllerCPU)) + " + " + seconds(c.ProxyCPU)
	}},
	{"run is valid", func(c Cost) string {
		if len(c.Void) > 0 {
			return "VOID"
		}
		return "yes"
	}},
}

// dashes returns the reasons why cells of the controller have a dash.
func (c Cost) dashes() []string {
	var all []string
	for _, measurement := range []string{"reloads", "cpu.controller"} {
		if why := c.whyNot(measurement); why != "" {
			all = append(all, fmt.Sprintf("%s does not apply to %s: %s", measurement, c.Name, why))
		}
	}
	return all
}

// whyNot returns why a measurement does not apply, or "" if it does.
func (c Cost) whyNot(measurement string) string {
	return measure.Subject{NotApplicable: c.NotApplicable}.WhyNot(measurement)
}

// unlessNotApplicable returns the text, or a dash if the measurement does not apply.
func (c Cost) unlessNotApplicable(measurement, text string) string {
	if c.whyNot(measurement) != "" {
		return "–"
	}
	return text
}

func seconds(d time.Duration) string { return report.Seconds(d.Seconds()) }

// rows returns the table of a run: the label and a cell for each controller. It is empty if nothing was
// measured.
func (r CostRun) rows() [][]string {
	if len(r.Subjects) == 0 {
		return nil
	}
	var all [][]string
	for _, row := range costRows {
		line := []string{row.Label}
		for _, s := range r.Subjects {
			line = append(line, row.cell(s))
		}
		all = append(all, line)
	}
	return all
}

// remarks returns why the run was not measured or cut short, and for which controllers it is void.
func (r CostRun) remarks() []string {
	var all []string
	if r.Trouble != "" {
		all = append(all, r.Change+": "+r.Trouble)
	}
	for _, s := range r.Subjects {
		for _, why := range s.Void {
			all = append(all, fmt.Sprintf("%s: the run is void for %s: %s", r.Change, s.Name, why))
		}
	}
	return all
}

// Size is the size of a cluster.
type Size struct {
	Ingresses, Services, Pods int // pods per service
}

// String returns the size as part of a sentence.
func (s Size) String() string {
	return fmt.Sprintf("a generated population with the size of yours: %s, %s with %s each; its ingresses have neither annotations nor certificates",
		plural.Of(s.Ingresses, "ingress", "ingresses"), plural.Of(s.Services, "service"), plural.Of(s.Pods, "pod"))
}
