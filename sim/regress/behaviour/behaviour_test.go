package behaviour_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/diff"
	casereport "windtunnel.dev/sim/behave/report"
	"windtunnel.dev/sim/regress"
	"windtunnel.dev/sim/regress/behaviour"
)

// A step that differs only once does not count as a difference.
func TestOnlyStableDifferencesCount(t *testing.T) {
	cases := []*behave.Case{{Name: "always"}, {Name: "once"}, {Name: "both"}, {Name: "never"}}
	runs := 0
	ask := func(_ context.Context, q behaviour.Question) (casereport.Document, error) {
		runs++
		var results []behave.Result
		for _, c := range q.Cases {
			r := behave.Result{Case: c.Name, Outcome: behave.Passed}
			fails := c.Name == "both" || q.Side == regress.SideHead && (c.Name == "always" || c.Name == "once" && runs <= 2)
			if fails {
				r.Outcome, r.Failures = behave.Failed, []behave.Failure{{Line: 3, Step: "GET /", Field: "status", Want: "200", Got: "404"}}
			}
			results = append(results, r)
		}
		return casereport.Of(casereport.Run{}, q.Cases, results), nil
	}
	b, err := behaviour.Compare(t.Context(), cases, ask, func(string, int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Answers) != 1 || b.Answers[0].Case != "always" || b.Answers[0].Values[0] != (regress.Value{What: "status", Base: "200", Head: "404"}) {
		t.Errorf("answers %+v, want the one of always", b.Answers)
	}
	if b.Cases != 4 || b.Unstable != 1 || !slices.Equal(b.UnstableCases, []string{"once"}) || len(b.BothFail) != 1 || b.BothFail[0] != "both" || runs != 4 {
		t.Errorf("%+v in %d runs", b, runs)
	}
}

// A controller that twice does not start, or serves nothing, is a finding of its own.
func TestNotServing(t *testing.T) {
	for name, test := range map[string]struct {
		failures map[string]int // how often each side fails
		want     string
	}{
		"both start":      {nil, ""},
		"head fails once": {map[string]int{regress.SideHead: 1}, ""},
		"head fails":      {map[string]int{regress.SideHead: 9}, regress.SideHead},
		"base fails":      {map[string]int{regress.SideBase: 9}, regress.SideBase},
		"both fail":       {map[string]int{regress.SideBase: 9, regress.SideHead: 9}, regress.SidesBoth},
	} {
		t.Run(name, func(t *testing.T) {
			reasons := []string{behave.NotStarted + ": no such file", behave.NotServing + ": timed out"}
			ask := func(_ context.Context, q behaviour.Question) (casereport.Document, error) {
				r := behave.Result{Outcome: behave.Failed}
				if left := test.failures[q.Side]; left > 0 {
					test.failures[q.Side]--
					r.Outcome, r.Reason = behave.Void, reasons[left%2]
				}
				return casereport.Of(casereport.Run{}, q.Cases, []behave.Result{r}), nil
			}
			found, err := behaviour.NotServing(t.Context(), ask, func(string, int, int) {})
			if err != nil {
				t.Fatal(err)
			}
			if test.want == "" && found != nil || test.want != "" && (found == nil || found.Sides != test.want || found.Reason != "the controller did not start: no such file") {
				t.Errorf("%+v, want %q", found, test.want)
			}
		})
	}
}

// Cases that a controller could not answer for the same reason are one line.
func TestCasesThatAreNotComparedAreGrouped(t *testing.T) {
	var cases []*behave.Case
	for i := range 7 {
		cases = append(cases, &behave.Case{Name: fmt.Sprint("case/", i)})
	}
	ask := func(_ context.Context, q behaviour.Question) (casereport.Document, error) {
		var results []behave.Result
		for i, c := range q.Cases {
			r := behave.Result{Case: c.Name, Outcome: behave.Passed}
			if q.Side == regress.SideHead && i < 6 {
				r.Outcome, r.Reason = behave.Void, "the controller did not start"
			}
			results = append(results, r)
		}
		return casereport.Of(casereport.Run{}, q.Cases, results), nil
	}
	b, err := behaviour.Compare(t.Context(), cases, ask, func(string, int, int) {})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"6 cases (case/0, case/1, case/2, case/3, case/4, …): void on B: the controller did not start (A is base, B is head)"}
	if b.Cases != 1 || !slices.Equal(b.NotCompared, want) {
		t.Errorf("%d cases compared, not compared: %q, want %q", b.Cases, b.NotCompared, want)
	}
}

// A value that differs each time counts, even if another value of the same step differs only once.
func TestUnstableValuesDoNotHideStableOnes(t *testing.T) {
	for name, once := range map[string]int{"first": 2, "again": 4} {
		runs := 0
		ask := func(_ context.Context, q behaviour.Question) (casereport.Document, error) {
			runs++
			r := behave.Result{Case: "case", Outcome: behave.Passed}
			if q.Side == regress.SideHead {
				r.Outcome, r.Failures = behave.Failed, []behave.Failure{{Line: 3, Step: "GET /", Field: "header Vary", Want: "absent", Got: "a"}}
				if runs == once {
					r.Failures = append(r.Failures, behave.Failure{Line: 3, Step: "GET /", Field: "status", Want: "200", Got: "503"})
				}
			}
			return casereport.Of(casereport.Run{}, q.Cases, []behave.Result{r}), nil
		}
		b, err := behaviour.Compare(t.Context(), []*behave.Case{{Name: "case"}}, ask, func(string, int, int) {})
		if err != nil {
			t.Fatal(err)
		}
		want := []regress.Value{{What: "header Vary", Base: "absent", Head: "a"}}
		if len(b.Answers) != 1 || !slices.Equal(b.Answers[0].Values, want) || b.Answers[0].Effect != diff.Headers.Title() {
			t.Errorf("the status differs in the run %q only: answers %+v, %d unstable", name, b.Answers, b.Unstable)
		}
	}
}
