package compare

import (
	"slices"

	"windtunnel.dev/sim/measure"
)

// sample contains the values of one figure of one subject, in all runs of both sides that have it.
type sample struct {
	subject    string
	figure     measure.Figure
	base, head []float64
}

// samplesOf returns the samples of a subject, without figures that no run has.
func samplesOf(subject string, base, head []measure.Subject, figures []measure.Figure) []sample {
	var all []sample
	for _, figure := range figures {
		s := sample{subject, figure, values(figure, base), values(figure, head)}
		if len(s.base)+len(s.head) > 0 {
			all = append(all, s)
		}
	}
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

// judge returns a row for each sample, and the number of runs per side that the varying figures
// need.
func judge(samples []sample, o Options) (rows []Row, needed int) {
	rows = make([]Row, len(samples))
	var tests []test
	varying := 0
	for i, s := range samples {
		r := &rows[i]
		*r = Row{Subject: s.subject, Figure: s.figure.Name, Kind: s.figure.Kind, BaseRuns: len(s.base), HeadRuns: len(s.head)}
		budget := o.Budget(s.figure)
		switch {
		case len(s.base) == 0 || len(s.head) == 0:
			r.Verdict, r.Base, r.Head = NoData, r.valueOf(s.base), r.valueOf(s.head)
		case !r.Kind.Varies():
			r.count(s, budget)
		default:
			varying++
			r.between(s, budget)
			if s.constant() {
				r.constant()
			} else {
				tests = append(tests, test{s, r})
			}
		}
	}
	able := conclusiveTests(tests, o.Alpha)
	holm(able, o.Alpha)
	for _, t := range able {
		t.row.Detectable = t.leastShift(o.Alpha / float64(len(able)))
	}
	if varying == 0 {
		return rows, 0
	}
	return rows, max(minRuns, runsNeeded(len(tests), o.Alpha))
}

// count compares the worst value of head with the worst value of base. A count is nearly the same
// in every run, so a single run that differs is significant.
func (r *Row) count(s sample, budget measure.Budget) {
	r.between(s, budget)
	r.Verdict = r.direction()
	if r.Verdict == Unsure {
		r.Verdict = Same
	}
}

// valueOf returns the worst value of a count, or the median of the values of another figure, or 0 if
// there are none.
func (r *Row) valueOf(values []float64) float64 {
	switch {
	case len(values) == 0:
		return 0
	case r.Kind.Varies():
		return median(values)
	}
	return slices.Max(values)
}

// constant judges a figure with the same value in every run of both sides. No test can judge it,
// but it needs as many runs as a test would need.
func (r *Row) constant() {
	r.P, r.Verdict = 1, Same
	if min(r.BaseRuns, r.HeadRuns) < minRuns {
		r.Verdict = TooFew
	}
}

// between sets the values of both sides, and the budget.
func (r *Row) between(s sample, budget measure.Budget) {
	r.Base, r.Head = r.valueOf(s.base), r.valueOf(s.head)
	r.Budget = budget.Allows(r.Base)
	if r.Base != 0 {
		r.Change = (r.Head - r.Base) / r.Base
	}
}

// direction returns the verdict on a significant difference.
func (r *Row) direction() Verdict {
	switch difference := r.Head - r.Base; {
	case difference > r.Budget:
		return Worse
	case difference < -r.Budget:
		return Better
	}
	return Unsure
}

// constant reports whether all runs have the same value.
func (s sample) constant() bool {
	all := slices.Concat(s.base, s.head)
	return slices.Min(all) == slices.Max(all)
}
