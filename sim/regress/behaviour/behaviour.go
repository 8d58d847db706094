// Package behaviour compares the answers of two sides to behaviour cases, and to the requests that
// follow from the manifests of a corpus. Its one rule: it asks through a function, and package diff
// decides what counts as a difference.
package behaviour

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/diff"
	casereport "windtunnel.dev/sim/behave/report"
	"windtunnel.dev/sim/regress"
)

// Ask runs the cases of a question.
type Ask func(context.Context, Question) (casereport.Document, error)

// Question has the cases to run on a side.
type Question struct {
	Side  string // regress.SideBase or regress.SideHead
	Cases []*behave.Case
	Done  func(behave.Result) // is called with each result
	// Recorded is called with the records of each case; nil: nothing is recorded.
	Recorded func(*behave.Case, []behave.Record)
}

// Compare asks both sides, and repeats the cases whose answers differ. A difference that does not
// occur again is only counted.
func Compare(ctx context.Context, cases []*behave.Case, ask Ask, progress func(stage string, done, of int)) (*regress.Behaviour, error) {
	first, base, head, err := once(ctx, "", cases, ask, progress)
	if err != nil {
		return nil, err
	}
	b := &regress.Behaviour{Cases: first.Cases, Answers: []regress.Answer{}, BothFail: bothFail(base, head, first)}
	b.NotCompared = notCompared(first, base, head)
	again := differing(cases, first)
	if len(again) == 0 {
		return b, nil
	}
	second, _, _, err := once(ctx, ", again", again, ask, progress)
	if err != nil {
		return nil, err
	}
	confirm(b, first.Differences, second, sameLine)
	return b, nil
}

// confirm adds the differences that occurred again, without values that did not, and counts the others. A
// case that could not be compared the second time does not refute its differences.
func confirm(b *regress.Behaviour, all []diff.Difference, second diff.Document, same func(a, b diff.Difference) bool) {
	void := map[string]bool{}
	for _, one := range second.NotCompared {
		void[one.Case] = true
	}
	var stable []diff.Difference
	for _, d := range all {
		again, ok := d.Only(func(v diff.Value) bool {
			return void[d.Case] || slices.ContainsFunc(second.Differences, func(other diff.Difference) bool {
				return same(other, d) && slices.ContainsFunc(other.Values, func(o diff.Value) bool { return o.What == v.What })
			})
		})
		if ok {
			stable = append(stable, again)
			continue
		}
		b.Unstable++
		if !slices.Contains(b.UnstableCases, d.Case) {
			b.UnstableCases = append(b.UnstableCases, d.Case)
		}
	}
	diff.Sort(stable)
	b.Answers = append(b.Answers, answers(stable)...)
}

// once asks each side once.
func once(ctx context.Context, suffix string, cases []*behave.Case, ask Ask, progress func(string, int, int)) (d diff.Document, base, head casereport.Document, err error) {
	for _, side := range []struct {
		name string
		to   *casereport.Document
	}{{regress.SideBase, &base}, {regress.SideHead, &head}} {
		done := 0
		*side.to, err = ask(ctx, Question{Side: side.name, Cases: cases, Done: func(behave.Result) {
			done++
			progress("cases on "+side.name+suffix, done, len(cases))
		}})
		if err != nil {
			return d, base, head, fmt.Errorf("running the cases on %s: %w", side.name, err)
		}
	}
	return diff.Of(base, head), base, head, nil
}

// sameLine reports whether two differences concern the same step.
func sameLine(a, b diff.Difference) bool { return a.Line == b.Line && sameStep(a, b) }

func differing(cases []*behave.Case, d diff.Document) []*behave.Case {
	var all []*behave.Case
	for _, c := range cases {
		if slices.ContainsFunc(d.Differences, func(one diff.Difference) bool { return one.Case == c.Name }) {
			all = append(all, c)
		}
	}
	return all
}

// bothFail returns the cases that fail on both sides without a difference.
func bothFail(base, head casereport.Document, d diff.Document) []string {
	failed := map[string]bool{}
	for _, c := range base.Cases {
		failed[c.Case] = c.Outcome == behave.Failed
	}
	var all []string
	for _, c := range head.Cases {
		differs := slices.ContainsFunc(d.Differences, func(one diff.Difference) bool { return one.Case == c.Case })
		if c.Outcome == behave.Failed && failed[c.Case] && !differs {
			all = append(all, c.Case)
		}
	}
	return all
}

// notCompared returns the cases without answers, but for those that both sides skip.
func notCompared(d diff.Document, base, head casereport.Document) []string {
	skipped := map[string]int{}
	for _, side := range []casereport.Document{base, head} {
		for _, c := range side.Cases {
			if c.Outcome == behave.Skipped {
				skipped[c.Case]++
			}
		}
	}
	return byReason(slices.DeleteFunc(slices.Clone(d.NotCompared), func(one diff.NotCompared) bool { return skipped[one.Case] == 2 }))
}

// byReason lists cases that were not compared, grouped by reason: if a controller does not start or serves
// nothing, all cases have the same reason.
func byReason(all []diff.NotCompared) []string {
	cases := map[string][]string{}
	var reasons, lines []string
	for _, one := range all {
		if cases[one.Why] == nil {
			reasons = append(reasons, one.Why)
		}
		cases[one.Why] = append(cases[one.Why], one.Case)
	}
	for _, why := range reasons {
		lines = append(lines, named(cases[why])+": "+why+" (A is base, B is head)")
	}
	return lines
}

// named returns the names of cases, with their number if there are several. It names five at most.
func named(cases []string) string {
	const most = 5
	switch n := len(cases); {
	case n == 1:
		return cases[0]
	case n > most:
		return fmt.Sprintf("%d cases (%s, …)", n, strings.Join(cases[:most], ", "))
	default:
		return fmt.Sprintf("%d cases (%s)", n, strings.Join(cases, ", "))
	}
}

// answers groups differences that are alike.
func answers(all []diff.Difference) []regress.Answer {
	var found []regress.Answer
	for _, group := range diff.Groups(all) {
		for _, alike := range group.Alike {
			a := regress.Answer{
				Effect: group.Effect.Title(), Steps: 1 + len(alike.Others), Case: alike.Case,
				Place: fmt.Sprintf("%s:%d", alike.File, alike.Line), Request: alike.Step, Causes: alike.Causes, Cases: []string{alike.Case},
			}
			for _, v := range alike.Values {
				a.Values = append(a.Values, regress.Value{What: v.What, Base: v.A, Head: v.B})
			}
			for _, other := range alike.Others {
				if !slices.Contains(a.Cases, other.Case) {
					a.Cases = append(a.Cases, other.Case)
				}
			}
			found = append(found, a)
		}
	}
	return found
}
