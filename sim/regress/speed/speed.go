// Package speed compares the costs of two sides: rendering, testing, reloading, memory and
// requests. It stands between the sides, which measure, and the report. Its one rule: each figure
// is judged separately, and a figure without enough valid measurements on both sides has no
// verdict, but a reason.
package speed

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"windtunnel.dev/sim/compare"
	"windtunnel.dev/sim/measure"
)

// DefaultRounds is the number of measurements of each side. It is enough to compare base with itself.
const DefaultRounds = 14

// alpha is the probability of any false alarm among all figures.
const alpha = 0.05

// Round has the results of one measurement of a side.
type Round struct {
	Values map[string]float64 // by figure, in its unit
	// Invisible says why figures cannot be observed on this side, for example because it runs other
	// Lua code. Failed says why figures could not be measured although they should have been.
	Invisible, Failed map[string]string
}

// Side is measured. Only one side measures at a time.
type Side interface {
	Measure(context.Context) (Round, error)
}

// Options describe a comparison.
type Options struct {
	Base, Head Side
	Rounds     int // of each side; 0: DefaultRounds
	// Budgets are the changes that matter, as shares of base, by the name of a figure or of a group of
	// figures such as request-cpu. Others have their default.
	Budgets  map[string]float64
	Progress func(done, of int) // may be nil
}

// Verdict says what is known about a figure.
type Verdict string

// The verdicts.
const (
	Same    Verdict = "same"    // chance explains the difference, or it is within the budget
	More    Verdict = "more"    // head needs more, by more than the budget
	Less    Verdict = "less"    // head needs less, by more than the budget
	Unknown Verdict = "unknown" // it was not measured well enough: Why says more
)

// Figure has all values of a figure, and the verdict about them.
type Figure struct {
	Name string    `json:"name"`
	Unit string    `json:"unit"` // s or B
	Base []float64 `json:"base"` // in the order of measurement
	Head []float64 `json:"head"`
	// BaseMedian and HeadMedian are nil without values.
	BaseMedian *Median `json:"baseMedian,omitempty"`
	HeadMedian *Median `json:"headMedian,omitempty"`
	// Change is the change of the median as a share of base, and P the probability of such a difference
	// by chance alone, corrected for the number of figures.
	Change  float64 `json:"change"`
	P       float64 `json:"p"`
	Budget  float64 `json:"budget"` // the change that matters, as a share of base
	Verdict Verdict `json:"verdict"`
	Why     string  `json:"why,omitempty"` // why the verdict is unknown
	// Invisible says that the verdict is unknown because the figure cannot be seen of a side, which makes
	// nothing void.
	Invisible bool `json:"invisible,omitempty"`
}

// Median is a median.
type Median struct {
	Value float64 `json:"value"`
	// Interval has the ends of the 95 % confidence interval; nil if there are too few values.
	Interval *[2]float64 `json:"interval,omitempty"`
}

// Target is what requests ask for.
type Target struct {
	Kind   string `json:"kind"`
	URL    string `json:"url"`
	Status int    `json:"status"` // that base answers
}

// Result is what a comparison found.
type Result struct {
	Cluster string   `json:"cluster"` // that was served
	Rounds  int      `json:"rounds"`  // of each side
	Order   []string `json:"order"`   // base or head, for each measurement
	Figures []Figure `json:"figures"`
	Targets []Target `json:"targets"`
	// NotAsked says of which kinds of locations no request was sent, and why.
	NotAsked []string `json:"notAsked,omitempty"`
	// Controlled says whether there were enough rounds to compare base with itself, which needs Needed.
	Controlled bool `json:"controlled"`
	Needed     int  `json:"needed"`
}

// Void reports whether a figure that does not depend on the load of the machine could not be judged.
func (r *Result) Void() bool {
	return slices.ContainsFunc(r.Figures, func(f Figure) bool {
		return f.Verdict == Unknown && !f.Invisible && !familyOf(f.Name).clock
	})
}

// Order returns which side each measurement is of: base head, head base, and so on.
func Order(rounds int) []string {
	var all []string
	for i := range rounds {
		if i%2 == 0 {
			all = append(all, "base", "head")
		} else {
			all = append(all, "head", "base")
		}
	}
	return all
}

// Run measures both sides in turns and compares them. The first measurement of each side is left out,
// because it warms caches.
func Run(ctx context.Context, o Options) (*Result, error) {
	order := Order(cmp.Or(o.Rounds, DefaultRounds))
	sides, rounds := map[string]Side{"base": o.Base, "head": o.Head}, map[string][]Round{}
	warm := Order(1)
	for i, name := range slices.Concat(warm, order) {
		round, err := sides[name].Measure(ctx)
		if err != nil {
			return nil, fmt.Errorf("measuring %s: %w", name, err)
		}
		if i >= len(warm) {
			rounds[name] = append(rounds[name], round)
		}
		if o.Progress != nil {
			o.Progress(i+1, len(warm)+len(order))
		}
	}
	result := Judge(rounds["base"], rounds["head"], o.Budgets)
	result.Order = order
	return result, nil
}

// Judge compares recorded rounds.
func Judge(base, head []Round, budgets map[string]float64) *Result {
	result := &Result{Rounds: len(base)}
	var series []compare.Series
	for _, f := range figures(base, head) {
		f.Budget = budgetOf(f.Name, budgets)
		if f.Why == "" {
			kind := measure.Time
			if f.Unit == "B" {
				kind = measure.Bytes
			}
			series = append(series, compare.Series{Name: f.Name, Kind: kind, Budget: measure.Budget{Rel: f.Budget}, Base: f.Base, Head: f.Head})
		}
		result.Figures = append(result.Figures, f)
	}
	compared := compare.Values(series, alpha)
	result.Controlled, result.Needed = compared.Controlled, 2*compared.Needed
	for _, row := range compared.Rows {
		result.figure(row.Figure).judge(row)
	}
	for _, row := range compared.Control {
		f := result.figure(row.Figure)
		f.Verdict, f.Why = Unknown, fmt.Sprintf("base differs from itself by %+.0f %%: the machine is too noisy", 100*row.Change)
	}
	return result
}

func (r *Result) figure(name string) *Figure {
	return &r.Figures[slices.IndexFunc(r.Figures, func(f Figure) bool { return f.Name == name })]
}

func (f *Figure) judge(row compare.Row) {
	f.Change, f.P = row.Change, row.P
	switch row.Verdict {
	case compare.Worse:
		f.Verdict = More
	case compare.Better:
		f.Verdict = Less
	case compare.Same, compare.Unsure:
		f.Verdict = Same
	default:
		f.Why = string(row.Verdict)
	}
}

// figures collects the values of each figure, and why some have none. Nothing is judged yet.
func figures(base, head []Round) []Figure {
	invisible, failed := map[string]string{}, map[string]string{}
	names := map[string]bool{}
	for _, r := range slices.Concat(base, head) {
		maps.Copy(invisible, r.Invisible)
		maps.Copy(failed, r.Failed)
		for name := range r.Values {
			names[name] = true
		}
	}
	for name := range maps.Keys(invisible) {
		names[name] = true
	}
	for name := range maps.Keys(failed) {
		names[name] = true
	}
	var all []Figure
	for _, name := range slices.SortedFunc(maps.Keys(names), byFamily) {
		f := Figure{
			Name: name, Unit: familyOf(name).unit, Base: values(base, name), Head: values(head, name), Verdict: Unknown,
			Why: cmp.Or(failed[name], invisible[name]), Invisible: failed[name] == "" && invisible[name] != "",
		}
		f.BaseMedian, f.HeadMedian = medianOf(f.Base), medianOf(f.Head)
		all = append(all, f)
	}
	return all
}

func values(rounds []Round, name string) []float64 {
	all := []float64{}
	for _, r := range rounds {
		if value, ok := r.Values[name]; ok {
			all = append(all, value)
		}
	}
	return all
}

func medianOf(values []float64) *Median {
	if len(values) == 0 {
		return nil
	}
	center, low, high := compare.Median(values)
	if math.IsInf(low, 0) || math.IsInf(high, 0) {
		return &Median{Value: center}
	}
	return &Median{center, &[2]float64{low, high}}
}

// family is a figure, or several whose names begin with the same text.
type family struct {
	name   string
	unit   string
	clock  bool    // a time that depends on whatever else the machine does
	budget float64 // as a share of base
	doc    string
}

var families = []family{
	{"render-cpu", "s", false, 0.1, "CPU time to render the cluster"},
	{"render-time", "s", true, 0.2, "time to render the cluster"},
	{"conf-size", "B", false, 0.02, "size of nginx.conf"},
	{"test-time", "s", true, 0.2, "time to write the files and to run nginx -t"},
	{"first-worker", "s", true, 0.2, "time from the signal of a reload until the first new worker serves"},
	{"last-worker", "s", true, 0.2, "time from the signal of a reload until all new workers serve"},
	{"worker-memory", "B", false, 0.1, "memory of a worker after the reload (PSS)"},
	{"request-cpu", "s", false, 0.1, "CPU time of the workers for a request, by the kind of location"},
}

// Families returns the names of figures, or of groups of them, that can have a budget, with what they
// are and their default budgets.
func Families() (all []Budget) {
	for _, f := range families {
		all = append(all, Budget{f.name, f.doc, f.budget})
	}
	return all
}

// Budget is the change of a family of figures that matters, as a share of base.
type Budget struct {
	Name, Doc string
	Share     float64
}

// Belongs reports whether a figure is the one of this name, or belongs to that group.
func Belongs(figure, name string) bool { return figure == name || strings.HasPrefix(figure, name+"-") }

func familyOf(name string) family { return families[familyIndex(name)] }

func familyIndex(name string) int {
	for i, f := range families {
		if Belongs(name, f.name) {
			return i
		}
	}
	panic("unknown figure " + name)
}

func byFamily(a, b string) int {
	return cmp.Or(cmp.Compare(familyIndex(a), familyIndex(b)), cmp.Compare(a, b))
}

// budgetOf returns the budget of a figure: the one of its own name takes precedence.
func budgetOf(name string, budgets map[string]float64) float64 {
	f := familyOf(name)
	for _, known := range []string{name, f.name} {
		if share, ok := budgets[known]; ok {
			return share
		}
	}
	return f.budget
}
