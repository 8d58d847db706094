package regress_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/regress"
	"windtunnel.dev/sim/regress/speed"
)

// costing returns a comparison of the part speed alone, which finds figures with these verdicts.
func costing(t *testing.T, verdicts map[string]speed.Verdict, declared string) *regress.Report {
	t.Helper()
	project, err := regress.ReadProject("windtunnel.yaml", []byte(declared))
	if err != nil {
		t.Fatal(err)
	}
	result := &speed.Result{}
	for name, verdict := range verdicts {
		result.Figures = append(result.Figures, speed.Figure{Name: name, Verdict: verdict})
	}
	r, err := regress.Run(t.Context(), regress.Options{
		Parts: []regress.Part{regress.SpeedPart}, Expected: project.Expected, Today: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC),
		Speed: func(context.Context, func(string, int, int)) (*speed.Result, error) { return result, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestCosts(t *testing.T) {
	const declared = "regress:\n  expected:\n  - {change: cost, directive: request-cpu, reason: a new header, until: 2027-01-31}\n"
	for name, test := range map[string]struct {
		verdicts map[string]speed.Verdict
		declared string
		want     regress.Outcome
		note     string
	}{
		"same":            {map[string]speed.Verdict{"render-cpu": speed.Same}, "", regress.Same, ""},
		"more":            {map[string]speed.Verdict{"render-cpu": speed.Same, "conf-size": speed.More}, "", regress.Differs, ""},
		"less":            {map[string]speed.Verdict{"conf-size": speed.Less}, "", regress.Differs, ""},
		"unknown":         {map[string]speed.Verdict{"conf-size": speed.Unknown}, "", regress.Void, ""},
		"noisy time":      {map[string]speed.Verdict{"test-time": speed.Unknown}, "", regress.Same, ""},
		"more, expected":  {map[string]speed.Verdict{"request-cpu-auth": speed.More}, declared, regress.Same, ""},
		"other, expected": {map[string]speed.Verdict{"worker-memory": speed.More}, declared, regress.Differs, "does not occur"},
		"expired":         {map[string]speed.Verdict{"request-cpu-auth": speed.More}, strings.Replace(declared, "2027", "2025", 1), regress.Differs, "has expired"},
	} {
		r := costing(t, test.verdicts, test.declared)
		if notes := strings.Join(r.Notes, " "); r.Outcome != test.want || (notes == "") != (test.note == "") || !strings.Contains(notes, test.note) {
			t.Errorf("%s: %s, notes %q; want %s, %q", name, r.Outcome, r.Notes, test.want, test.note)
		}
	}
}

func TestBudgets(t *testing.T) {
	project, err := regress.ReadProject("windtunnel.yaml", []byte("regress:\n  budgets: {request-cpu: 0.05, request-cpu-auth: 0.2}\n"))
	if err != nil || project.Budgets["request-cpu"] != 0.05 || project.Budgets["request-cpu-auth"] != 0.2 {
		t.Errorf("%+v, %v", project, err)
	}
	for text, want := range map[string]string{
		"regress:\n  budgets: {request-cost: 0.05}\n": "windtunnel.yaml:2: budgets: unknown figure request-cost; did you mean request-cpu",
		"regress:\n  budgets: {request-cpu: -1}\n":    "windtunnel.yaml:2: budgets: request-cpu: -1 is not a share of base",
		"regress:\n  budgets: {request-cpu: .nan}\n":  "windtunnel.yaml:2: budgets: request-cpu: NaN is not a share of base",
		"regress:\n  budgets: {request-cpu: .inf}\n":  "windtunnel.yaml:2: budgets: request-cpu: +Inf is not a share of base",
		"regress:\n  budgets: {request-cpu: 5%}\n":    "windtunnel.yaml:2: budgets: want figures with shares",
		"regress:\n  budgets: 5\n":                    "windtunnel.yaml:2: budgets: want figures with shares",
	} {
		if _, err := regress.ReadProject("windtunnel.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
