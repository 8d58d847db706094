// Package diff compares the answers of two controllers to the same behaviour cases: two results, or
// a result with what the cases record. It orders the differences by their effect on clients. Its
// one rule: it is pure, and compares only what results contain.
package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/report"
)

// Schema is the version of the JSON document. Within a version, fields may be added, but none is
// removed or changes its meaning.
const Schema = "windtunnel.dev/case-diff/v1"

// Recorded names the side that is not a run, but the expectations of the cases.
const Recorded = "recorded"

// Document has the differences between two sides.
type Document struct {
	Schema string `json:"schema"`
	A      string `json:"a"` // a controller, or "recorded"
	B      string `json:"b"`
	Cases  int    `json:"cases"` // that were compared
	// Differences are sorted by their effect on clients, the worst first.
	Differences []Difference `json:"differences"`
	// NotCompared are the cases without answers on one of the sides.
	NotCompared []NotCompared `json:"notCompared"`
}

// Difference is a step that the sides answer differently.
type Difference struct {
	Effect Effect `json:"effect"`
	Case   string `json:"case"`
	File   string `json:"file"`
	Line   int    `json:"line"` // of the step, from 1
	Step   string `json:"step"` // the request line, or the change
	// Causes are the annotations, ConfigMap keys and fields of ingresses that the step is about.
	Causes []string `json:"causes"`
	Values []Value  `json:"values"`
}

// Value is a part of the answer that differs, with its value on each side.
type Value struct {
	What string `json:"what"` // as in failures: status, header Location, path at the pod
	A    string `json:"a"`
	B    string `json:"b"`
}

// NotCompared is a case that was not compared.
type NotCompared struct {
	Case string `json:"case"`
	Why  string `json:"why"`
}

// WithRecorded compares a result with what its cases expect.
func WithRecorded(b report.Document) Document {
	recorded := report.Document{Run: report.Run{Subject: Recorded}}
	for _, c := range b.Cases {
		c.Result = behave.Result{Case: c.Case, File: c.File, Outcome: behave.Passed}
		recorded.Cases = append(recorded.Cases, c)
	}
	return Of(recorded, b)
}

// Of compares two results.
func Of(a, b report.Document) Document {
	d := Document{Schema: Schema, A: a.Subject, B: b.Subject, Differences: []Difference{}, NotCompared: []NotCompared{}}
	others := map[string]report.Case{}
	for _, c := range b.Cases {
		others[c.Case] = c
	}
	for _, c := range a.Cases {
		other, both := others[c.Case]
		delete(others, c.Case)
		why := ""
		switch {
		case !both:
			why = "not run on B"
		case !answered(c):
			why = fmt.Sprintf("%s on A: %s", c.Outcome, c.Reason)
		case !answered(other):
			why = fmt.Sprintf("%s on B: %s", other.Outcome, other.Reason)
		}
		if why != "" {
			d.NotCompared = append(d.NotCompared, NotCompared{c.Case, why})
			continue
		}
		d.Cases++
		d.Differences = append(d.Differences, differences(c, other)...)
	}
	for name := range others {
		d.NotCompared = append(d.NotCompared, NotCompared{name, "not run on A"})
	}
	slices.SortFunc(d.NotCompared, func(a, b NotCompared) int { return cmp.Compare(a.Case, b.Case) })
	Sort(d.Differences)
	return d
}

// Sort sorts differences by their effect on clients, the worst first.
func Sort(all []Difference) {
	slices.SortStableFunc(all, func(a, b Difference) int {
		return cmp.Or(cmp.Compare(a.Effect.rank(), b.Effect.rank()), cmp.Compare(a.Case, b.Case), cmp.Compare(a.Line, b.Line))
	})
}

// Only returns the difference with only the values that stays accepts; ok is false if there are none.
func (d Difference) Only(stays func(Value) bool) (some Difference, ok bool) {
	d.Values = slices.DeleteFunc(slices.Clone(d.Values), func(v Value) bool { return !stays(v) })
	d.Effect, d.Causes = felt(d.Values), causes(d.Causes, d.Values)
	return d, len(d.Values) > 0
}

// answered reports whether a run has answers to a case.
func answered(c report.Case) bool {
	return c.Outcome != behave.Void && c.Outcome != behave.Skipped
}

// place is a part of an answer.
type place struct {
	line       int
	step, what string
	answer     bool // one of several answers, not all of them together
}

func placeOf(f behave.Failure) place { return place{f.Line, f.Step, f.Field, f.Answer > 0} }

// differences compares the failures of a case. A side without a failure gave the expected answer, unless it
// lacks this part of it.
func differences(a, b report.Case) []Difference {
	inA, inB := map[place]behave.Failure{}, map[place]behave.Failure{}
	for _, f := range a.Failures {
		inA[placeOf(f)] = f
	}
	for _, f := range b.Failures {
		inB[placeOf(f)] = f
	}
	var all []Difference
	add := func(f behave.Failure, a, b string) {
		at := slices.IndexFunc(all, func(d Difference) bool { return d.Line == f.Line && d.Step == f.Step })
		if at < 0 {
			at = len(all)
			all = append(all, Difference{File: f.File, Line: f.Line, Step: f.Step, Causes: f.About})
		}
		all[at].Values = append(all[at].Values, Value{f.Field, a, b})
	}
	for _, f := range b.Failures {
		before, failed := inA[placeOf(f)]
		switch {
		case !failed && lacks(a, f):
		case !failed:
			add(f, f.Want, f.Got)
		case before.Got != f.Got:
			add(f, before.Got, f.Got)
		}
	}
	for _, f := range a.Failures {
		if _, failed := inB[placeOf(f)]; !failed && !lacks(b, f) {
			add(f, f.Got, f.Want)
		}
	}
	for n := range all {
		d := &all[n]
		d.Case = a.Case
		if len(d.Causes) == 0 {
			d.Causes = a.Covers
		}
		d.Values = withoutEchoes(d.Values)
		slices.SortStableFunc(d.Values, func(a, b Value) int { return cmp.Compare(effectOf(a).rank(), effectOf(b).rank()) })
		d.Effect = felt(d.Values)
		d.Causes = causes(d.Causes, d.Values)
	}
	return all
}

// lacks reports whether a side has nothing to compare with a failure of the other side: it has no
// answer, no pod that answered, or no such cookie.
func lacks(side report.Case, f behave.Failure) bool {
	atPod := strings.HasSuffix(f.Field, " at the pod")
	ofAnswer := f.Answer > 0 && f.Field != "time" && (atPod || !strings.Contains(f.Field, " at ")) // others are compared without an answer, too
	return slices.ContainsFunc(side.Failures, func(missing behave.Failure) bool {
		return missing.Line == f.Line && missing.Step == f.Step && missing.Others+1 >= missing.Answers &&
			(ofAnswer && missing.Field == "answer" || atPod && missing.Field == "pod that answered" || strings.HasSuffix(f.Field, " of "+missing.Field))
	})
}

// withoutEchoes removes values that follow from others: if another service answers, so does another
// pod.
func withoutEchoes(values []Value) []Value {
	if !slices.ContainsFunc(values, func(v Value) bool { return v.What == "service" }) {
		return values
	}
	return slices.DeleteFunc(values, func(v Value) bool { return v.What == "pod that answered" })
}
