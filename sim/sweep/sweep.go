// Package sweep varies values of a scenario and evaluates the effects of the variations. Package
// sim/sweep/run makes the runs, and sim/sweep/report shows the effects. Its one rule: it is pure; it
// computes combinations and effects from texts and measurements.
package sweep

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/scenario"
)

// MostCombinations is the largest number of combinations of a sweep.
const MostCombinations = 1000

// MostRuns is the largest number of runs of a sweep. Each combination is run once in each round.
const MostRuns = 10_000

// Design says which combinations of values a sweep runs, and how often.
type Design struct {
	Factors    []Factor `json:"factors"`
	OneAtATime bool     `json:"oneAtATime"` // one factor varies at a time, and the others keep the scenario's values; false: all combinations
	// Fraction is the part of all combinations that is run; missing: all of them. Plan completes it.
	Fraction *Fraction `json:"fraction,omitempty"`
	Rounds   int       `json:"rounds"` // runs of each combination
	Seed     uint64    `json:"seed"`   // of population, churn and traffic; the same for all runs
}

// Planned is a combination that a sweep is going to run.
type Planned struct {
	Combination
	Scenario *scenario.Scenario
}

// Loader checks the text of a scenario, and returns the scenario that is run.
type Loader func(text []byte) (*scenario.Scenario, error)

// Plan applies each combination of a design to the text of a scenario file, and loads the results. It
// also sets the own values of the design's factors, and completes its fraction. The error names the
// first combination that cannot be run, and says why.
func Plan(text []byte, design *Design, load Loader) ([]Planned, error) {
	if err := checkFactors(design.Factors); err != nil {
		return nil, err
	}
	for i := range design.Factors {
		f := &design.Factors[i]
		var err error
		if f.Own, err = Value(text, f.Path); err != nil {
			return nil, fmt.Errorf("--vary %s: %w", f.Path, err)
		}
	}
	if design.Fraction != nil {
		if err := design.planFraction(); err != nil {
			return nil, err
		}
	}
	combinations, err := design.combinations()
	if err != nil {
		return nil, err
	}
	if design.Rounds > MostRuns/len(combinations) {
		return nil, fmt.Errorf("%s × %s are more than %d runs; use fewer rounds (--rounds), or vary fewer values",
			plural.Of(len(combinations), "combination"), plural.Of(design.Rounds, "round"), MostRuns)
	}
	var all []Planned
	for _, c := range combinations {
		s, err := c.load(text, load)
		if err != nil {
			return nil, fmt.Errorf("combination %d of %d (%s): %w", c.Number, len(combinations), c, err)
		}
		all = append(all, Planned{c, s})
	}
	return all, nil
}

// load returns the scenario of a combination.
func (c Combination) load(text []byte, load Loader) (*scenario.Scenario, error) {
	for _, s := range c.Settings {
		var err error
		if text, err = Set(text, s.Path, s.Value); err != nil {
			return nil, err
		}
	}
	s, err := load(text)
	if err != nil {
		return nil, withoutLines(err)
	}
	return s, nil
}

// withoutLines returns problems without their line numbers, which differ from those of the user's file.
func withoutLines(err error) error {
	var several interface{ Unwrap() []error }
	var one scenario.Problem
	switch {
	case errors.As(err, &several):
		var all []string
		for _, part := range several.Unwrap() {
			all = append(all, withoutLines(part).Error())
		}
		return errors.New(strings.Join(all, "; "))
	case errors.As(err, &one):
		return errors.New(one.What + "; " + one.Mend)
	}
	return err
}

func checkFactors(factors []Factor) error {
	if len(factors) == 0 {
		return errors.New("there is nothing to vary: name at least one value, as in --vary population.services=10,100")
	}
	for i, f := range factors {
		if slices.ContainsFunc(factors[:i], func(before Factor) bool { return before.Path == f.Path }) {
			return fmt.Errorf("--vary %s: it is given twice; give all values at once, as in --vary %s=%s", f.Path, f.Path, strings.Join(f.Values, ","))
		}
	}
	return nil
}
