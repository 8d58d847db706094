package compare

import (
	"cmp"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"

	"windtunnel.dev/sim/measure"
)

// fewest is how many runs a side needs for a time to be judged: with three, no
// difference reaches 5 % in a Mann-Whitney test.
const fewest = 4

// rows compares every figure of a subject; the verdicts of times are still
// open, for they depend on how many there are.
func rows(subject string, base, head []measure.Subject, o Options) []Row {
	var all []Row
	for _, figure := range measure.Figures() {
		a, b := values(figure, base), values(figure, head)
		row := Row{Subject: subject, Figure: figure.Name, Kind: figure.Kind, BaseRuns: len(a), HeadRuns: len(b)}
		switch {
		case len(a) == 0 && len(b) == 0:
			continue
		case len(a) == 0 || len(b) == 0:
			row.Verdict = NoData
		case figure.Kind == measure.Count:
			row.count(a, b, o.budget(figure.Name))
		default:
			row.time(a, b)
		}
		all = append(all, row)
	}
	detectable(all, base, o)
	return all
}

func values(figure measure.Figure, subjects []measure.Subject) []float64 {
	var all []float64
	for _, s := range subjects {
		if value, ok := figure.Of(s); ok {
			all = append(all, value)
		}
	}
	return all
}

// count holds the worst of head against the worst of base: a count is nearly
// the same in every run, so one run that differs is news.
func (r *Row) count(base, head []float64, budget Budget) {
	r.Base, r.Head = slices.Max(base), slices.Max(head)
	r.Budget = max(budget.More, budget.Rel*r.Base)
	r.change()
	switch {
	case r.Head > r.Base+r.Budget:
		r.Verdict = Worse
	case r.Head < r.Base-r.Budget:
		r.Verdict = Better
	default:
		r.Verdict = Same
	}
}

// time tests whether two samples come from one distribution, without an
// assumption of its shape (Mann-Whitney).
func (r *Row) time(base, head []float64) {
	a, b := sample(base), sample(head)
	r.Base = benchmath.AssumeNothing.Summary(a, 0.95).Center
	r.Head = benchmath.AssumeNothing.Summary(b, 0.95).Center
	r.change()
	r.P = 1
	if len(base) >= fewest && len(head) >= fewest {
		r.P = benchmath.AssumeNothing.Compare(a, b).P
	} else {
		r.Verdict = TooFew
	}
}

func (r *Row) change() {
	if r.Base != 0 {
		r.Change = (r.Head - r.Base) / r.Base
	}
}

func sample(values []float64) *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
}

// judgeTimes gives the times their verdicts, with Holm's correction: among many
// tests some look significant by chance, so the smallest P must pass the
// strictest level.
func judgeTimes(all []Row, o Options) {
	var tested []*Row
	for i := range all {
		if r := &all[i]; r.Kind != measure.Count && r.Verdict == "" {
			tested = append(tested, r)
		}
	}
	slices.SortStableFunc(tested, func(a, b *Row) int { return cmp.Compare(a.P, b.P) })
	least := 0.0
	for i, r := range tested {
		least = max(least, math.Min(1, r.P*float64(len(tested)-i)))
		r.P = least
		r.Verdict = r.verdict(o)
	}
}

func (r *Row) verdict(o Options) Verdict {
	difference := math.Abs(r.Head - r.Base)
	matters := math.Abs(r.Change) >= o.Relative && (r.Kind != measure.Time || difference >= o.Absolute)
	switch {
	case r.P >= o.Alpha || !matters:
		return Unsure
	case r.Head > r.Base:
		return Worse
	}
	return Better
}

// detectable works out, for each time, the least change that would have been
// seen: base's own values, raised by a share, are compared with base's own.
func detectable(all []Row, base []measure.Subject, o Options) {
	times := 0
	for _, r := range all {
		if r.Kind != measure.Count {
			times++
		}
	}
	for _, figure := range measure.Figures() {
		i := slices.IndexFunc(all, func(r Row) bool { return r.Figure == figure.Name && r.Kind != measure.Count && r.Verdict == "" })
		if i < 0 {
			continue
		}
		all[i].Detectable = leastShift(values(figure, base), o.Alpha/float64(times), o.Relative)
	}
}

// leastShift is the smallest of a few shares by which all values can be raised
// so that the test tells them from what they were; 0 if even the largest cannot.
func leastShift(values []float64, alpha, floor float64) float64 {
	for _, share := range []float64{0.01, 0.02, 0.03, 0.05, 0.07, 0.10, 0.15, 0.20, 0.30, 0.50, 0.75, 1, 1.5, 2, 3, 5, 10} {
		if share < floor {
			continue
		}
		raised := slices.Clone(values)
		for i := range raised {
			raised[i] *= 1 + share
		}
		if benchmath.AssumeNothing.Compare(sample(values), sample(raised)).P < alpha {
			return share
		}
	}
	return 0
}
