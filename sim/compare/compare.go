// Package compare decides whether one set of runs is worse than another, for example in a check of
// a pull request. Its one rule: a difference counts only if it is significant and large enough to
// matter. If the runs are too few to show a difference, the comparison says so.
package compare

import (
	"fmt"
	"slices"

	"windtunnel.dev/sim/measure"
)

// Verdict is the result of a row.
type Verdict string

// The verdicts.
const (
	Same   Verdict = "same"         // counts: within the budget; others: the same value in all runs
	Unsure Verdict = "~"            // figures that vary: not significant, or too small to matter
	Better Verdict = "better"       // less than before
	Worse  Verdict = "WORSE"        // more than before: fails the comparison
	TooFew Verdict = "too few runs" // no difference, however large, could have been significant
	NoData Verdict = "no data"      // one side has no value
)

// Outcome is the result of all rows together.
type Outcome string

// Possible outcomes.
const (
	SomeWorse Outcome = "worse"        // at least one figure is worse
	Void      Outcome = "void"         // base differs from itself
	CannotSay Outcome = "too few runs" // no figure is worse, but some had too few runs to show any difference
	NoneWorse Outcome = "none worse"   // no figure is worse, and the runs could have shown differences
)

// Options define what is compared, and when a difference matters. The zero value means the
// defaults.
type Options struct {
	// Figures contains names from measure.Figures; empty: all figures.
	Figures []string
	Alpha   float64 // probability of any false alarm among the figures that vary; default 0.05
	// Relative is the smallest rise that matters for a figure that varies, 0 to 1. Absolute is the
	// smallest rise that matters for a time, in seconds. A rise must exceed both. 0: the figure's
	// default budget.
	Relative float64
	Absolute float64
	// Budgets are the permitted rises by figure name. Other figures have their default budgets.
	Budgets map[string]measure.Budget
}

// Row compares one figure of one subject.
type Row struct {
	Subject string       `json:"subject"`
	Figure  string       `json:"figure"`
	Kind    measure.Kind `json:"kind"`
	// Base and Head are the worst values of counts and the medians of other figures; 0 for a side
	// without a value. Times are in seconds, memory in bytes.
	Base float64 `json:"base"`
	Head float64 `json:"head"`
	// Change is (Head-Base)/Base; 0 when Base is 0.
	Change float64 `json:"change"`
	// P is the probability of a difference this large if both sides were equal, corrected for the
	// number of rows (Holm); 0 for counts.
	P float64 `json:"p,omitempty"`
	// Detectable is the smallest rise that these runs could have shown for a figure that varies, in
	// its unit. It is 0 for counts, and if the runs could show no rise.
	Detectable float64 `json:"detectable,omitempty"`
	BaseRuns   int     `json:"baseRuns"`
	HeadRuns   int     `json:"headRuns"`
	Verdict    Verdict `json:"verdict"`
	Budget     float64 `json:"budget,omitempty"` // permitted rise, in the figure's unit
}

// Comparison contains the rows of all subjects, and whether they are reliable.
type Comparison struct {
	Scenario string  `json:"scenario"`
	Seed     uint64  `json:"seed"`
	Outcome  Outcome `json:"outcome"`
	Rows     []Row   `json:"rows"`
	// Needed is the number of runs per side needed to distinguish differences from chance for this
	// number of varying figures; 0 if no figure varies.
	Needed int `json:"needed"`
	// Control contains the varying figures in which base differs from itself: its odd runs from its
	// even ones (A/A). If there are any, no varying figure is reliable.
	Control []Row `json:"control,omitempty"`
	// Controlled reports whether base had enough runs for the control: twice Needed.
	Controlled bool `json:"controlled"`
}

// Void reports whether varying figures are unreliable because base differs from itself.
func (c Comparison) Void() bool { return len(c.Control) > 0 }

// Worse returns the rows that fail the comparison.
func (c Comparison) Worse() []Row { return c.rowsWith(Worse) }

// rowsWith returns the rows with a verdict.
func (c Comparison) rowsWith(v Verdict) []Row {
	return slices.DeleteFunc(slices.Clone(c.Rows), func(r Row) bool { return r.Verdict != v })
}

// outcome combines the rows. A count that is worse is worse on any machine. Varying figures are
// unreliable if base differs from itself.
func (c Comparison) outcome() Outcome {
	worse := c.Worse()
	switch {
	case slices.ContainsFunc(worse, func(r Row) bool { return !r.Kind.Varies() }):
		return SomeWorse
	case c.Void():
		return Void
	case len(worse) > 0:
		return SomeWorse
	case len(c.rowsWith(TooFew)) > 0 || !slices.ContainsFunc(c.Rows, Row.judged):
		return CannotSay
	}
	return NoneWorse
}

// judged reports whether the row has a conclusive verdict.
func (r Row) judged() bool { return r.Verdict != TooFew && r.Verdict != NoData }

// VoidError means that a run cannot be compared because it is void.
type VoidError struct {
	Side    string // base or head
	Run     int    // number of the run on that side, from 1
	Subject string // the subject for which it is void
	Why     string
}

func (e VoidError) Error() string {
	return fmt.Sprintf("%s run %d is void for %s: %s; make it again", e.Side, e.Run, e.Subject, e.Why)
}

// Runs compares runs of one scenario and seed, subject by subject. The runs must be in the order in
// which they were made. A void run gives a VoidError: it is not conclusive, and omitting it would
// bias the selection of runs. An unknown figure in Figures or Budgets is also an error.
func Runs(base, head []measure.Result, o Options) (Comparison, error) {
	if err := comparable(base, head); err != nil {
		return Comparison{}, err
	}
	figures, err := o.figures()
	if err != nil {
		return Comparison{}, err
	}
	if o.Alpha == 0 {
		o.Alpha = 0.05
	}
	c := Comparison{Scenario: base[0].Run.Scenario, Seed: base[0].Run.Seed}
	c.Rows, c.Needed = compareSubjects(base, head, figures, o)
	if c.Controlled = c.Needed > 0 && len(base) >= 2*c.Needed; c.Controlled {
		c.Control = control(base, figures, o)
	}
	c.Outcome = c.outcome()
	return c, nil
}

// compareSubjects returns the judged rows of all subjects, and the number of runs per side needed
// to judge those that vary.
func compareSubjects(base, head []measure.Result, figures []measure.Figure, o Options) (all []Row, needed int) {
	var samples []sample
	for i, s := range base[0].Subjects {
		samples = append(samples, samplesOf(s.Name, subjects(base, i), subjects(head, i), figures)...)
	}
	return judge(samples, o)
}

// control compares the even runs of base with its odd runs. It returns the rows of varying figures that
// differ.
func control(base []measure.Result, figures []measure.Figure, o Options) []Row {
	var halves [2][]measure.Result
	for i, run := range base {
		halves[i%2] = append(halves[i%2], run)
	}
	all, _ := compareSubjects(halves[0], halves[1], figures, o)
	return slices.DeleteFunc(all, func(r Row) bool {
		return !r.Kind.Varies() || r.Verdict != Worse && r.Verdict != Better
	})
}

// comparable returns an error if the runs cannot be compared.
func comparable(base, head []measure.Result) error {
	if len(base) == 0 || len(head) == 0 {
		return fmt.Errorf("there is nothing to compare: %d base runs, %d head runs", len(base), len(head))
	}
	first := base[0]
	for i, run := range append(slices.Clone(base), head...) {
		side, n := "base", i+1
		if i >= len(base) {
			side, n = "head", i+1-len(base)
		}
		switch {
		case run.Schema != measure.Schema:
			return fmt.Errorf("%s run %d: its result is of schema %q, this program reads %q; make it again with windtunnel report", side, n, run.Schema, measure.Schema)
		case run.Run.Scenario != first.Run.Scenario:
			return fmt.Errorf("%s run %d is of scenario %s, the first base run of %s", side, n, run.Run.Scenario, first.Run.Scenario)
		case run.Run.Seed != first.Run.Seed:
			return fmt.Errorf("%s run %d has seed %d, the first base run %d: they did not make the same changes", side, n, run.Run.Seed, first.Run.Seed)
		case !slices.EqualFunc(run.Subjects, first.Subjects, func(a, b measure.Subject) bool { return a.Name == b.Name }):
			return fmt.Errorf("%s run %d has other subjects than the first base run", side, n)
		}
		for _, s := range run.Subjects {
			if !s.Valid {
				return VoidError{Side: side, Run: n, Subject: s.Name, Why: s.WhyInvalid()}
			}
		}
	}
	return nil
}

func subjects(runs []measure.Result, i int) []measure.Subject {
	var all []measure.Subject
	for _, run := range runs {
		all = append(all, run.Subjects[i])
	}
	return all
}
