package regress

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"go.yaml.in/yaml/v3"

	"windtunnel.dev/sim/regress/speed"
	"windtunnel.dev/sim/specfile"
)

// Cost is what both sides cost.
type Cost struct {
	*speed.Result
	// Expected has the declarations that differences of figures are wanted, by the figure. These
	// differences do not count for the outcome.
	Expected map[string]*Expectation `json:"expected,omitempty"`
}

// differing returns the figures in which the sides differ by more than the budget.
func (c *Cost) differing() (all []speed.Figure) {
	if c == nil {
		return nil
	}
	for _, f := range c.Figures {
		if f.Verdict == speed.More || f.Verdict == speed.Less {
			all = append(all, f)
		}
	}
	return all
}

// Unexpected returns the figures in which the sides differ by more than the budget, though no declaration
// says so.
func (c *Cost) Unexpected() (all []speed.Figure) {
	for _, f := range c.differing() {
		if c.Expected[f.Name] == nil {
			all = append(all, f)
		}
	}
	return all
}

// cost runs the part that measures both sides.
func (r *runner) cost(ctx context.Context, report *Report) error {
	if r.Speed == nil || !r.does(SpeedPart) {
		return nil
	}
	found, err := r.Speed(ctx, r.Progress)
	if err == nil {
		report.Cost = &Cost{Result: found}
	}
	return err
}

// CostChange is the value of Expectation.Change for figures of the part speed.
const CostChange = "cost"

// coversFigure reports whether a difference of a figure is expected. The directive is the figure, or its
// group.
func (e Expectation) coversFigure(f speed.Figure) bool {
	return e.Change == CostChange && e.Place == "" && speed.Belongs(f.Name, e.Directive)
}

// expectCosts marks the figures that are expected to differ, and reports whether there are any.
func (r *Report) expectCosts(e Expectation, valid bool) (covered bool) {
	for _, f := range r.Cost.differing() {
		if !e.coversFigure(f) {
			continue
		}
		covered = true
		if valid {
			if r.Cost.Expected == nil {
				r.Cost.Expected = map[string]*Expectation{}
			}
			r.Cost.Expected[f.Name] = &e
		}
	}
	return covered
}

// budgets reads the field regress.budgets of a file: the changes that matter, as shares of base.
func budgets(node *yaml.Node) (map[string]float64, error) {
	var all map[string]float64
	if err := node.Decode(&all); err != nil {
		return nil, fmt.Errorf("budgets: want figures with shares of base, such as request-cpu: 0.05: %w", err)
	}
	var known []string
	for _, f := range speed.Families() {
		known = append(known, f.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.ContainsFunc(known, func(family string) bool { return speed.Belongs(name, family) }) {
			return nil, fmt.Errorf("budgets: unknown figure %s; %s", name, specfile.Choose(name, "figures", known))
		}
		if share := all[name]; !(share > 0) || math.IsInf(share, 1) { // NaN is neither
			return nil, fmt.Errorf("budgets: %s: %v is not a share of base: want a number above 0, such as 0.05 for 5 %%", name, all[name])
		}
	}
	return all, nil
}
