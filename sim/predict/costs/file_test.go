package costs_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/docs"
	"windtunnel.dev/sim/predict/costs"
)

func fitted(t *testing.T) *costs.Parameters {
	t.Helper()
	p, err := costs.Fit(observe(truth(), 6, 2, 0.1), 6, 1)
	if err != nil {
		t.Fatal(err)
	}
	p.Controller, p.Processors, p.Machine = "bundled", 2, map[string]string{"processors": "2"}
	p.Scenarios, p.Range = []string{"a", "b"}, map[string]costs.Interval{"ingresses": {Low: 100, High: 2000}}
	return p
}

// A file that was written is read back unchanged.
func TestRoundTrip(t *testing.T) {
	want := fitted(t)
	want.Validation = &costs.Validation{Runs: 3, Scenarios: []string{"c"}, Ingresses: []int{100}, Figures: map[string]costs.Error{"reloads": {Runs: 3, Median: 0.1, Worst: 0.2, Within: 1}}}
	text, err := want.Marshal("mine")
	if err != nil {
		t.Fatal(err)
	}
	got, err := costs.Parse("mine.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Each mistake in a file is reported with its line.
func TestBadFiles(t *testing.T) {
	text, err := fitted(t).Marshal("bad")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ old, new, want string }{
		{"name: handover", "name: handovr", "unknown cost handovr; let windtunnel calibrate write the file again"},
		{"name: handover", "name: handovr", "the cost handover is missing"},
		{"processors: 2\n", "processors: 0\n", "bad.yaml:8: 0 processors; write 1 or more"},
		{"controller: bundled", "controler: bundled", "bad.yaml:6: unknown field controler; did you mean controller?"},
		{"kind: Parameters", "kind: Parameter", `bad.yaml:2: the first document is of kind "Parameter"`},
		{"fixed: {value: 0.0", "fixed: {value: -0.0", "the term fixed of test is -0.0"},
		{"fixed: {value: ", "base: {value: ", "the cost notice has the terms base, not fixed"},
	} {
		broken := strings.Replace(string(text), test.old, test.new, 1)
		if broken == string(text) {
			t.Fatalf("the file has no %q:\n%s", test.old, text[:800])
		}
		if _, err := costs.Parse("bad.yaml", []byte(broken)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want an error with %q", test.new, err, test.want)
		}
	}
}

// The built-in parameters have all costs and terms of the simulation.
func TestBuiltIn(t *testing.T) {
	p, err := costs.Parse("parameters.yaml", docs.Parameters)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Draws.Rows) == 0 || len(p.Range) == 0 || p.Runs == 0 {
		t.Errorf("%d draws, %d ranges, %d runs", len(p.Draws.Rows), len(p.Range), p.Runs)
	}
}

func TestPredictable(t *testing.T) {
	for _, test := range []struct {
		e    costs.Error
		want bool
	}{
		{costs.Error{Runs: 5, Median: 0.15, Worst: 0.4}, true},
		{costs.Error{Runs: 5, Median: 0.16, Worst: 0.4}, false},
		{costs.Error{Runs: 5, Median: 0.15, Worst: 0.41}, false},
		{costs.Error{}, false},
	} {
		if test.e.Predictable() != test.want {
			t.Errorf("%+v: got %t", test.e, !test.want)
		}
	}
}
