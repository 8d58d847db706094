package trend_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/sim/compare"
	"windtunnel.dev/sim/history"
	"windtunnel.dev/sim/history/historytest"
	"windtunnel.dev/sim/history/trend"
)

// runsOf returns a run per value, each of another commit, with only one figure.
func runsOf(figure string, values ...float64) []history.Run {
	var runs []history.Run
	for i, v := range values {
		runs = append(runs, historytest.RunOf(i, map[string]float64{figure: v}))
	}
	return runs
}

// noisy returns n values around a level.
func noisy(n int, level float64) []float64 {
	random := rand.New(rand.NewPCG(uint64(n), 1))
	var values []float64
	for range n {
		values = append(values, level*(1+0.02*random.NormFloat64()))
	}
	return values
}

// steps describes the steps of a series: at, verdict, and whether it lasts.
func steps(s trend.Series) string {
	var all []string
	for _, step := range s.Steps {
		text := fmt.Sprintf("%d %s", step.At, step.Verdict)
		if step.Lasting {
			text += " lasting"
		}
		if step.Explained != "" {
			text += " explained"
		}
		all = append(all, text)
	}
	return strings.Join(all, ", ")
}

func TestSteps(t *testing.T) {
	for _, test := range []struct {
		name, figure string
		values       []float64
		want         string
	}{
		{"up", "cpu.nginx", slices.Concat(noisy(10, 10), noisy(6, 13)), "10 WORSE lasting"},
		{"down", "cpu.nginx", slices.Concat(noisy(10, 13), noisy(6, 10)), "10 better"},
		{"up and back", "cpu.nginx", slices.Concat(noisy(10, 10), noisy(10, 13), noisy(10, 10)), "10 WORSE, 20 better"},
		{"within the budget", "cpu.nginx", slices.Concat(noisy(10, 10), noisy(10, 10.7)), ""},
		{"less than the error of the figure", "cpu.nginx", slices.Concat(noisy(10, 0.01), noisy(10, 0.05)), ""},
		{"small steps that sum up", "cpu.nginx", slices.Concat(slices.Repeat([]float64{10}, 20), slices.Repeat([]float64{10.8}, 20), slices.Repeat([]float64{11.6}, 20), slices.Repeat([]float64{12.4}, 20)), "40 WORSE lasting"},
		{"one slow run", "cpu.nginx", slices.Concat(noisy(10, 10), noisy(1, 30), noisy(10, 10)), ""},
		{"the newest run is slow", "cpu.nginx", slices.Concat(noisy(10, 10), noisy(1, 30)), ""},
		{"a count rises in the newest run", "reloads", []float64{2, 2, 2, 2, 2, 9}, "5 WORSE lasting"},
		{"a count rises within its budget", "reloads", []float64{2, 2, 2, 2, 2, 3}, ""},
		{"a count falls", "reloads", []float64{9, 9, 9, 9, 9, 2, 2}, "5 better"},
		{"a count rises twice", "reloads", []float64{0, 0, 0, 0, 0, 5, 5, 5, 5, 5, 9, 9, 9, 9, 9}, "5 WORSE lasting, 10 WORSE lasting"},
		{"a count was once high", "reloads", []float64{2, 2, 2, 2, 2, 9, 2}, ""},
		{"four runs before", "reloads", []float64{2, 2, 2, 2, 9}, ""},
		{"one run", "cpu.nginx", []float64{1}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := of(t, runsOf(test.figure, test.values...))
			if len(got.Series) != 1 {
				t.Fatalf("got %d series", len(got.Series))
			}
			s := got.Series[0]
			if steps(s) != test.want {
				t.Errorf("steps %q, want %q: %+v", steps(s), test.want, s.Steps)
			}
			if len(s.Levels) != len(s.Steps)+1 || s.Levels[0].From != 0 || s.Newest().To != len(s.Points) {
				t.Errorf("levels %+v", s.Levels)
			}
		})
	}
}

func TestLevels(t *testing.T) {
	s := of(t, runsOf("cpu.nginx", slices.Concat(noisy(10, 10), noisy(10, 13))...)).Series[0]
	step := s.Steps[0]
	if step.First != 10 || step.Last != 10 || step.P <= 0 || step.P > 0.05 {
		t.Errorf("step %+v", step)
	}
	if step.Before != s.Levels[0].Value || step.After != s.Levels[1].Value || step.Change < 0.25 || step.Change > 0.35 || step.Budget != 0.1*step.Before {
		t.Errorf("step %+v between %+v", step, s.Levels)
	}
	for _, l := range s.Levels {
		if !(l.Low < l.Value && l.Value < l.High) || l.High-l.Low > 1 {
			t.Errorf("level %+v", l)
		}
	}
}

// Values measured on different machines are separate series, however much they differ.
func TestSetupsAreSeparate(t *testing.T) {
	runs := runsOf("cpu.nginx", slices.Concat(noisy(10, 10), noisy(10, 20))...)
	for i := range runs[10:] {
		runs[10+i].Setup = map[string]string{"cpu": "b"}
	}
	got := of(t, runs)
	if len(got.Series) != 2 || len(got.Setups) != 2 {
		t.Fatalf("%d series, setups %v", len(got.Series), got.Setups)
	}
	for i, s := range got.Series {
		if len(s.Points) != 10 || len(s.Steps) != 0 || got.Setups[s.Setup]["cpu"] != []string{"a", "b"}[i] {
			t.Errorf("series %d: %+v", i, s)
		}
	}
	// Runs that alternate between machines are not mixed.
	runs = runsOf("cpu.nginx", noisy(34, 10)...)
	for i := range runs {
		if i%2 == 1 {
			runs[i].Setup = map[string]string{"cpu": "b"}
			runs[i].Figures["dynamic"]["cpu.nginx"] *= 2
		}
		if i >= 20 && i%2 == 0 {
			runs[i].Figures["dynamic"]["cpu.nginx"] *= 1.5
		}
	}
	got = of(t, runs)
	if steps(got.Series[0]) != "10 WORSE lasting" || steps(got.Series[1]) != "" {
		t.Errorf("steps %q and %q", steps(got.Series[0]), steps(got.Series[1]))
	}
}

// A step at which the kernel changed is not called worse, but one near it is.
func TestChangeOfEnvironment(t *testing.T) {
	for _, test := range []struct {
		at      int // where the kernel changes
		back    int // where it changes back; 0: nowhere
		verdict string
	}{{10, 0, "10 environment"}, {8, 0, "10 WORSE lasting"}, {12, 0, "10 WORSE lasting"}, {10, 12, "10 WORSE lasting"}} {
		runs := runsOf("cpu.nginx", slices.Concat(noisy(10, 10), noisy(10, 13))...)
		for i := range runs {
			if i >= test.at && (test.back == 0 || i < test.back) {
				runs[i].Environment = map[string]string{"kernel": "6.2"}
			}
		}
		s := of(t, runs).Series[0]
		if steps(s) != test.verdict {
			t.Errorf("kernel at %d to %d: steps %q, want %q", test.at, test.back, steps(s), test.verdict)
		}
		if want := []trend.Difference{{Name: "kernel", Before: []string{"6.1"}, After: []string{"6.2"}}}; s.Steps[0].Verdict == trend.Environment && !reflect.DeepEqual(s.Steps[0].Differences, want) {
			t.Errorf("differences %v, want %v", s.Steps[0].Differences, want)
		}
	}
}

// A commit with several runs is one point.
func TestPoints(t *testing.T) {
	runs := runsOf("cpu.nginx", 1, 9, 2, 3)
	for i, r := range runsOf("reloads", 1, 9, 2, 3) {
		runs[i].Figures["dynamic"]["reloads"] = r.Figures["dynamic"]["reloads"]
		if i < 3 {
			runs[i].Commit = runs[0].Commit
		}
	}
	got := of(t, runs)
	if len(got.Commits) != 2 || len(got.Runs) != 4 || got.Runs[3].Commit != 1 || got.Runs[3].Folder != "storm/3" {
		t.Errorf("commits %v, runs %v", got.Commits, got.Runs)
	}
	for _, s := range got.Series {
		want := []trend.Point{{Commit: 0, Value: 9, Low: 1, High: 9, Runs: []int{0, 1, 2}}, {Commit: 1, Value: 3, Low: 3, High: 3, Runs: []int{3}}}
		if s.Figure == "cpu.nginx" {
			want[0].Value = 2
		}
		if !reflect.DeepEqual(s.Points, want) {
			t.Errorf("%s: points %v, want %v", s.Figure, s.Points, want)
		}
	}
}

func TestUnknownFigure(t *testing.T) {
	if _, err := trend.Of(runsOf("reloads", 1), compare.Options{Figures: []string{"x"}}); err == nil || !strings.Contains(err.Error(), `no figure "x"`) {
		t.Errorf("got %v", err)
	}
	got, err := trend.Of(runsOf("reloads", 1), compare.Options{Figures: []string{"cpu.*"}})
	if err != nil || len(got.Series) != 0 {
		t.Errorf("got %v, %v", got.Series, err)
	}
}

func TestExplanations(t *testing.T) {
	hash := historytest.Hash
	for _, test := range []struct {
		name string
		e    trend.Explanation
		want bool
	}{
		{"its commit", trend.Explanation{Commit: hash(10), Figure: "cpu.nginx"}, true},
		{"a commit near it", trend.Explanation{Commit: hash(12), Figure: "cpu.*"}, true},
		{"another commit", trend.Explanation{Commit: hash(15), Figure: "cpu.nginx"}, false},
		{"another figure", trend.Explanation{Commit: hash(10), Figure: "reloads"}, false},
		{"its scenario and subject", trend.Explanation{Commit: hash(10), Figure: "*", Scenario: "storm", Subject: "dyn*"}, true},
		{"another scenario", trend.Explanation{Commit: hash(10), Figure: "*", Scenario: "calm"}, false},
		{"another subject", trend.Explanation{Commit: hash(10), Figure: "*", Subject: "reload"}, false},
	} {
		test.e.Reason = "wanted"
		got := of(t, runsOf("cpu.nginx", slices.Concat(noisy(10, 10), noisy(10, 13))...))
		got.Explain([]trend.Explanation{test.e})
		if explained := got.Series[0].Steps[0].Explained == "wanted"; explained != test.want {
			t.Errorf("%s: explained %v", test.name, explained)
		}
	}
}

func TestReadExplanations(t *testing.T) {
	const valid = `
regress: {expected: []}
history:
  explained:
  - {commit: 0123abc, figure: memory.*, subject: dynamic, reason: larger caches}
`
	got, err := trend.ReadExplanations("windtunnel.yaml", []byte(valid))
	if want := (trend.Explanation{Commit: "0123abc", Figure: "memory.*", Subject: "dynamic", Reason: "larger caches"}); err != nil || len(got) != 1 || got[0] != want {
		t.Errorf("read %+v, %v", got, err)
	}
	if got, err := trend.ReadExplanations("empty", nil); err != nil || len(got) != 0 {
		t.Errorf("an empty file: %v, %v", got, err)
	}
	for text, want := range map[string]string{
		"history: {explained: [{commit: 012, figure: x, reason: y}]}":             `f:1: commit "012": want a hash of 7 digits or more`,
		"history: {explained: [{commit: 0123abc, reason: y}]}":                    "f:1: no figure",
		"history:\n  explained:\n  - {commit: 0123abc, figure: x}":                "f:3: no reason",
		"history: {explained: [{commit: 0123abc, figure: x, reason: y, why: z}]}": "f:1: unknown field why",
		"history: {explained: [{commit: 0123abc, figure: '[', reason: y}]}":       "syntax error in pattern",
		"history: {explain: []}":    "f:1: unknown field explain; did you mean explained?",
		"history: {explained: [x]}": "f:1: an explained step: want fields",
	} {
		if _, err := trend.ReadExplanations("f", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
