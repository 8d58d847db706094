package trend

import (
	"math"
	"slices"

	"windtunnel.dev/internal/changepoint"
	"windtunnel.dev/sim/compare"
	"windtunnel.dev/sim/measure"
)

// Verdict is the classification of a step.
type Verdict string

// The verdicts.
const (
	Better Verdict = "better"
	Worse  Verdict = "WORSE"
	// Environment means that the machine differs between the runs before and after the step.
	Environment Verdict = "environment"
)

// Step is a change between two levels of a series.
type Step struct {
	Verdict Verdict `json:"verdict"`
	At      int     `json:"at"` // index of the first point of the new level
	// First and Last are the indexes of the range that contains the first point after the change,
	// with a probability of 95 %. Both equal At for a sharp step, and are further apart for a slow
	// rise.
	First int `json:"first"`
	Last  int `json:"last"`
	// Before and After are the values of the levels.
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	Change float64 `json:"change"` // (After-Before)/Before; 0 when Before is 0
	Budget float64 `json:"budget"` // permitted rise, in the figure's unit
	// P is the probability of such a clear step in any of the series that were tested together, if
	// there were no change. It is 0 for a step of a count that no test decides: all values after it
	// exceed all values before it by more than the budget, or vice versa.
	P float64 `json:"p,omitempty"`
	// Lasting reports whether the newest level is still worse than the one before the step by more than
	// the budget. It is false unless the step is worse.
	Lasting bool `json:"lasting"`
	// Differences are the properties of the machine that differ between all runs before the step and all
	// runs after it.
	Differences []Difference `json:"differences,omitempty"`
	// Explained is the declared reason for the step, or empty.
	Explained string `json:"explained,omitempty"`
}

// Difference is a property of the machine with different values before and after a step.
type Difference struct {
	Name   string   `json:"name"`
	Before []string `json:"before"` // sorted
	After  []string `json:"after"`  // sorted
}

// Size is the absolute difference of the levels.
func (s Step) Size() float64 { return math.Abs(s.After - s.Before) }

// findSteps sets the levels and steps of a series.
func (t *Trend) findSteps(s *Series, o compare.Options) {
	figure := figureOf(s.Figure)
	budget := o.Budget(figure)
	values := s.values()
	var places []place
	if s.testable() {
		for _, c := range changepoint.Find(values, changepoint.Options{Alpha: o.Alpha / float64(t.Tests)}) {
			places = append(places, place{at: c.At, p: min(1, c.P*float64(t.Tests))})
		}
	}
	if !s.Kind.Varies() {
		places = separated(values, places, budget)
	}
	places = largeEnough(values, places, budget)
	s.Levels = levels(values, places)
	for i, p := range places {
		s.Steps = append(s.Steps, t.step(*s, i, p, budget))
	}
}

func figureOf(name string) measure.Figure {
	all := measure.Figures()
	return all[slices.IndexFunc(all, func(f measure.Figure) bool { return f.Name == name })]
}

// place is a possible place of a step: the index of the first value after it, and its p, which is 0
// without a test.
type place struct {
	at int
	p  float64
}

// levels returns the parts of a series between places.
func levels(values []float64, places []place) []Level {
	var all []Level
	from := 0
	for _, to := range append(indexes(places), len(values)) {
		l := Level{From: from, To: to}
		l.Value, l.Low, l.High = median(values[from:to])
		all = append(all, l)
		from = to
	}
	return all
}

func indexes(places []place) []int {
	var all []int
	for _, p := range places {
		all = append(all, p.at)
	}
	return all
}

// fewestBefore is the number of values before a step that are enough to show how much a count varies.
const fewestBefore = 5

// separated adds places in a series of counts: those where all values of a level before the place
// differ from all values after it by more than the budget. A count is nearly the same in every run, so
// a single run that differs is significant (package compare). There are fewestBefore values before the
// place, and one or more after it.
func separated(values []float64, places []place, budget measure.Budget) []place {
	bounds := append(append([]int{0}, indexes(places)...), len(values))
	for i := 1; i < len(bounds); i++ {
		from, to := bounds[i-1], bounds[i]
		for at := from + fewestBefore; at < to; at++ {
			before, after := values[from:at], values[at:to]
			low, high := slices.Max(before), slices.Max(after)
			if slices.Min(after) > low+budget.Allows(low) || high < slices.Min(before)-budget.Allows(slices.Min(before)) {
				places = append(places, place{at: at})
				from, at = at, at+fewestBefore-1
			}
		}
	}
	slices.SortFunc(places, func(a, b place) int { return a.at - b.at })
	return places
}

// largeEnough removes places until the levels on both sides of each remaining one differ by more
// than the budget. It removes the smallest step first, so that a slow rise in several small steps
// leaves one large step.
func largeEnough(values []float64, places []place, budget measure.Budget) []place {
	places = slices.Clone(places)
	for len(places) > 0 {
		all := levels(values, places)
		smallest, size := 0, math.Inf(1)
		for i := range places {
			if s := excess(all[i].Value, all[i+1].Value, budget); s < size {
				smallest, size = i, s
			}
		}
		if size > 0 {
			break
		}
		places = slices.Delete(places, smallest, smallest+1)
	}
	return places
}

// excess returns by how much the difference of two levels exceeds the budget, or 0 or less if it
// does not.
func excess(before, after float64, budget measure.Budget) float64 {
	return math.Abs(after-before) - budget.Allows(before)
}

// step returns the step at the place between the levels i and i+1.
func (t *Trend) step(s Series, i int, p place, budget measure.Budget) Step {
	before, after := s.Levels[i], s.Levels[i+1]
	step := Step{
		At: p.at, P: p.p, Before: before.Value, After: after.Value,
		Budget: budget.Allows(before.Value), Verdict: Better,
	}
	if step.Before != 0 {
		step.Change = (step.After - step.Before) / step.Before
	}
	first, last := changepoint.Range(s.values()[before.From:after.To])
	step.First, step.Last = min(p.at, before.From+first), max(p.at, before.From+last)
	step.Differences = t.differences(s.Points[before.From:step.First], s.Points[step.Last:after.To])
	switch {
	case len(step.Differences) > 0:
		step.Verdict = Environment
	case step.After > step.Before:
		step.Verdict = Worse
		step.Lasting = s.Newest().Value > step.Before+step.Budget
	}
	return step
}
