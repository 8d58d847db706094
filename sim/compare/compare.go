// Package compare says whether one set of runs is worse than another. It
// stands between the results of runs and whoever must decide, such as a pull
// request's check. Its one rule: a difference counts only if chance does not
// explain it and it is large enough to matter; when it cannot tell, it says so.
package compare

import (
	"fmt"
	"slices"

	"windtunnel.dev/sim/measure"
)

// Verdict is what a row comes to.
type Verdict string

// The verdicts.
const (
	Same   Verdict = "same"   // counts: no worse than the budget allows
	Unsure Verdict = "~"      // times: chance explains it, or it is too small to matter
	Better Verdict = "better" // less than before
	Worse  Verdict = "WORSE"  // more than before: fails the comparison
	TooFew Verdict = "too few runs"
	NoData Verdict = "no data" // one side has no value
)

// Options say when a difference matters. The zero value is the defaults.
type Options struct {
	Alpha    float64 // chance of a false alarm over all times together; default 0.05
	Relative float64 // least change of a time that matters, 0 to 1; default 0.10
	// Absolute is the least change of a time that matters, in seconds; default
	// 0.005.
	Absolute float64
	// Budgets are by how much counts may rise, by the figure's name; what is
	// not named has the default: see DefaultBudgets.
	Budgets map[string]Budget
}

// Budget is by how much the worst count of a side may rise: by More, or by the
// share Rel of the worst base, whichever is larger.
type Budget struct {
	More float64
	Rel  float64 // 0 to 1
}

// DefaultBudgets are what a count may rise by without being called worse. The
// sync rate limit can put one reload, and one POST, more into a run by chance;
// lost requests and retries are rare events, so a few more are no news.
var DefaultBudgets = map[string]Budget{
	"reloads":          {More: 1, Rel: 0.10},
	"posts.count":      {More: 1, Rel: 0.10},
	"posts.bytes":      {Rel: 0.10},
	"requests.failed":  {More: 3, Rel: 0.50},
	"requests.retries": {More: 10, Rel: 0.50},
	"converge.flaps":   {More: 3, Rel: 0.50},
	"workers.alive":    {More: 1},
}

// Row compares one figure of one subject.
type Row struct {
	Subject string       `json:"subject"`
	Figure  string       `json:"figure"`
	Kind    measure.Kind `json:"kind"`
	// Base and Head are the medians of times and the worst of counts; times in
	// seconds, memory in bytes.
	Base float64 `json:"base"`
	Head float64 `json:"head"`
	// Change is (Head-Base)/Base; 0 when Base is 0.
	Change float64 `json:"change"`
	// P is the chance of a difference this large if there were none, corrected
	// for the number of rows (Holm); 0 for counts.
	P float64 `json:"p,omitempty"`
	// Detectable is the least relative change of a time that these runs could
	// have shown; 0 for counts, and if no change could.
	Detectable float64 `json:"detectable,omitempty"`
	BaseRuns   int     `json:"baseRuns"`
	HeadRuns   int     `json:"headRuns"`
	Verdict    Verdict `json:"verdict"`
	Budget     float64 `json:"budget,omitempty"` // by how much a count might have risen
}

// Comparison is the rows of all subjects, and whether they can be believed.
type Comparison struct {
	Scenario string `json:"scenario"`
	Seed     uint64 `json:"seed"`
	Rows     []Row  `json:"rows"`
	// Control are the times in which base differs from itself, its odd runs
	// from its even ones (A/A). With one there, the times say nothing.
	Control []Row `json:"control,omitempty"`
	// Controlled is whether there were runs enough for the control.
	Controlled bool `json:"controlled"`
}

// Void tells whether the times cannot be believed: base differs from itself.
func (c Comparison) Void() bool { return len(c.Control) > 0 }

// Worse are the rows that fail the comparison.
func (c Comparison) Worse() []Row {
	return slices.DeleteFunc(slices.Clone(c.Rows), func(r Row) bool { return r.Verdict != Worse })
}

// VoidError says that a run cannot be compared because it is void.
type VoidError struct {
	Side    string // base or head
	Run     int    // of that side, from 1
	Subject string // that it is void for
	Why     string
}

func (e VoidError) Error() string {
	return fmt.Sprintf("%s run %d is void for %s: %s; make it again", e.Side, e.Run, e.Subject, e.Why)
}

// Runs compares runs of one scenario and seed, subject by subject. The order of
// the runs is that in which they were made. A void run is an error, a VoidError: it
// says nothing, and leaving it out would choose among the runs.
func Runs(base, head []measure.Result, o Options) (Comparison, error) {
	if err := comparable(base, head); err != nil {
		return Comparison{}, err
	}
	o = o.withDefaults()
	c := Comparison{Scenario: base[0].Run.Scenario, Seed: base[0].Run.Seed, Controlled: len(base) >= 2*fewest}
	for i, s := range base[0].Subjects {
		c.Rows = append(c.Rows, rows(s.Name, subjects(base, i), subjects(head, i), o)...)
	}
	judgeTimes(c.Rows, o)
	if c.Controlled {
		c.Control = control(base, o)
	}
	return c, nil
}

// control compares base with itself, every second run with the others, and
// returns the times that differ.
func control(base []measure.Result, o Options) []Row {
	var odd, even []measure.Result
	for i, run := range base {
		if i%2 == 0 {
			odd = append(odd, run)
		} else {
			even = append(even, run)
		}
	}
	var all []Row
	for i, s := range base[0].Subjects {
		all = append(all, rows(s.Name, subjects(odd, i), subjects(even, i), o)...)
	}
	judgeTimes(all, o)
	return slices.DeleteFunc(all, func(r Row) bool {
		return r.Kind == measure.Count || r.Verdict != Worse && r.Verdict != Better
	})
}

func (o Options) withDefaults() Options {
	if o.Alpha == 0 {
		o.Alpha = 0.05
	}
	if o.Relative == 0 {
		o.Relative = 0.10
	}
	if o.Absolute == 0 {
		o.Absolute = 0.005
	}
	return o
}

func (o Options) budget(figure string) Budget {
	if b, given := o.Budgets[figure]; given {
		return b
	}
	return DefaultBudgets[figure]
}

// comparable says why runs cannot be compared.
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
				return VoidError{Side: side, Run: n, Subject: s.Name, Why: s.Invalid[0]}
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
