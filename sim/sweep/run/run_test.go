package run_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
	"windtunnel.dev/sim/sweep"
	"windtunnel.dev/sim/sweep/run"
	"windtunnel.dev/sim/trial"
)

// unused is a driver that the fake trials do not use.
type unused struct{}

func (unused) Name() string { return "unused" }

func (unused) Prepare(context.Context, subject.Subject, driver.Options) (driver.Instance, error) {
	return nil, errors.New("not used")
}

const text = `apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: story}
spec:
  population: {services: 10}
  timeline: [{at: 0s, churn: rolling-update, rate: 1/s, for: 2s}]
`

// trials are fake trials: each has as many reloads as its scenario has services.
type trials struct {
	*testing.T
	made     []string                 // the folders of the trials
	outcomes map[string]judge.Outcome // by folder; others pass
	then     func(dir string)         // after each trial
}

func (f *trials) do(ctx context.Context, t trial.Trial) trial.Result {
	name := filepath.Base(t.Dir)
	f.made = append(f.made, name)
	dir, err := rundir.Create(t.Dir, t.Scenario, t.Rewritten)
	if err != nil {
		f.Fatal(err)
	}
	outcome := judge.Passed
	if other, ok := f.outcomes[name]; ok {
		outcome = other
	}
	result := measure.Result{Schema: measure.Schema, Run: event.Run{Scenario: t.Scenario.Name}, Subjects: []measure.Subject{{
		Name: "bundled", Valid: outcome != judge.Void, Reloads: t.Scenario.Population.Services,
	}}}
	err = rundir.WriteFile(dir.File(rundir.Result), func(w io.Writer) error { return report.JSON(w, result, nil) })
	if err != nil {
		f.Fatal(err)
	}
	if f.then != nil {
		f.then(name)
	}
	if ctx.Err() != nil {
		outcome = judge.Interrupted
	}
	ended := trial.Result{Outcome: outcome, Dir: dir, Measured: rundir.Measured{Result: result}}
	if outcome == judge.NotRun {
		ended.Err = errors.New("it does not start")
	}
	return ended
}

// sweepOf returns a sweep over numbers of services.
func sweepOf(t *testing.T, f *trials, out, text string, values ...string) run.Sweep {
	t.Helper()
	design := sweep.Design{Factors: []sweep.Factor{{Path: "population.services", Values: values}}, Rounds: 1, Seed: 1}
	planned, err := sweep.Plan([]byte(text), &design, func(text []byte) (*scenario.Scenario, error) {
		return scenario.LoadAs("story.yaml", text, scenario.Known{})
	})
	if err != nil {
		t.Fatal(err)
	}
	figures, err := sweep.Choose([]string{"reloads"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return run.Sweep{Design: design, Planned: planned, Figures: figures, Driver: unused{}, Out: out, Say: &strings.Builder{}, Trial: f.do}
}

func values(d sweep.Document) []float64 {
	var all []float64
	for _, r := range d.Rows {
		all = append(all, r.Values["reloads"])
	}
	return all
}

func TestSweep(t *testing.T) {
	f, out := &trials{T: t}, filepath.Join(t.TempDir(), "new")
	s := sweepOf(t, f, out, text, "1", "2", "3")
	doc, outcome, err := s.Do(t.Context())
	if err != nil || outcome != judge.Passed || doc.Interrupted || !slices.Equal(values(doc), []float64{1, 2, 3}) {
		t.Errorf("%s, %v: %+v", outcome, err, doc)
	}
	saved, err := run.Load(out)
	if err != nil || len(saved.Runs) != 3 || saved.Runs[2].Dir != "003-services=3" {
		t.Errorf("%+v, %v", saved, err)
	}
	if said := s.Say.(*strings.Builder).String(); !strings.Contains(said, "combination 2 of 3 (population.services=2); 2 runs left, about ") {
		t.Error(said)
	}
	if _, _, err := s.Do(t.Context()); err == nil || !strings.Contains(err.Error(), "continue it with --resume") {
		t.Errorf("a finished sweep was overwritten: %v", err)
	}
}

// The rounds run the combinations alternately forwards and backwards.
func TestRounds(t *testing.T) {
	f := &trials{T: t}
	s := sweepOf(t, f, t.TempDir(), text, "1", "2")
	s.Design.Rounds = 2
	doc, _, err := s.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, made := range doc.Runs {
		order = append(order, made.Dir)
	}
	if !slices.Equal(f.made, []string{"01", "01", "02", "02"}) || !slices.Equal(order, []string{"001-services=1/01", "001-services=1/02", "002-services=2/01", "002-services=2/02"}) {
		t.Errorf("%q %q", f.made, order)
	}
}

// The runs of a fraction are made in random order, the same for the same seed, and continue only in the
// same fraction.
func TestFraction(t *testing.T) {
	made := func(out string, seed uint64, of int) ([]string, error) {
		f := &trials{T: t}
		s := sweepOf(t, f, out, text, "1")
		s.Design.Factors, s.Design.Seed, s.Design.Fraction, s.Resume = nil, seed, &sweep.Fraction{Of: of}, true
		for _, path := range []string{"population.services", "population.pods", "config.a", "config.b", "config.c"} {
			s.Design.Factors = append(s.Design.Factors, sweep.Factor{Path: path, Values: []string{"1", "2"}})
		}
		var err error
		s.Planned, err = sweep.Plan([]byte(text), &s.Design, func(text []byte) (*scenario.Scenario, error) {
			return scenario.LoadAs("story.yaml", text, scenario.Known{})
		})
		if err != nil {
			t.Fatal(err)
		}
		doc, _, err := s.Do(t.Context())
		if err == nil && (doc.Interrupted || doc.Design.Fraction.Resolution < 3) {
			t.Errorf("%+v", doc.Design)
		}
		return f.made, err
	}
	out := t.TempDir()
	first, err := made(out, 1, 2)
	again, also := made(t.TempDir(), 1, 2)
	other, too := made(t.TempDir(), 2, 2)
	if err := errors.Join(err, also, too); err != nil || len(first) != 16 || !slices.Equal(first, again) || slices.Equal(first, other) || slices.IsSorted(first) {
		t.Errorf("%v: %q %q %q", err, first, again, other)
	}
	if _, err := made(out, 1, 4); err == nil || !strings.Contains(err.Error(), "it runs 1/2 of the combinations, and this one 1/4") {
		t.Error(err)
	}
	if left, err := made(out, 1, 2); err != nil || len(left) != 0 {
		t.Errorf("%q, %v", left, err)
	}
}

// A sweep that was interrupted makes the missing runs, and keeps the finished ones.
func TestResume(t *testing.T) {
	out := t.TempDir()
	ctx, interrupt := context.WithCancel(t.Context())
	f := &trials{T: t, then: func(name string) {
		if strings.HasPrefix(name, "002") {
			interrupt()
		}
	}}
	doc, outcome, err := sweepOf(t, f, out, text, "1", "2", "3").Do(ctx)
	if outcome != judge.Interrupted || err == nil || !doc.Interrupted || len(doc.Runs) != 1 {
		t.Fatalf("%s, %v: %+v", outcome, err, doc.Runs)
	}
	f = &trials{T: t}
	s := sweepOf(t, f, out, text, "1", "2", "3")
	s.Resume = true
	doc, outcome, err = s.Do(t.Context())
	if err != nil || outcome != judge.Passed || doc.Interrupted || !slices.Equal(values(doc), []float64{1, 2, 3}) {
		t.Errorf("%s, %v: %+v", outcome, err, doc)
	}
	if !slices.Equal(f.made, []string{"002-services=2", "003-services=3"}) {
		t.Errorf("made %q", f.made)
	}
}

// Void runs are repeated, and made again when a sweep resumes.
func TestVoid(t *testing.T) {
	out := t.TempDir()
	f := &trials{T: t, outcomes: map[string]judge.Outcome{"001-services=1": judge.Void}}
	doc, outcome, err := sweepOf(t, f, out, text, "1", "2").Do(t.Context())
	if err != nil || outcome != judge.Void || len(f.made) != 4 || doc.Rows[0].Void != 1 || doc.Rows[1].Runs != 1 {
		t.Errorf("%s, %v after %q: %+v", outcome, err, f.made, doc.Rows)
	}
	f = &trials{T: t}
	s := sweepOf(t, f, out, text, "1", "2")
	s.Resume = true
	if doc, outcome, err = s.Do(t.Context()); err != nil || outcome != judge.Passed || len(f.made) != 1 || doc.Rows[0].Void != 0 {
		t.Errorf("resumed: %s, %v after %q", outcome, err, f.made)
	}
}

func TestResumeRefuses(t *testing.T) {
	out := t.TempDir()
	if _, _, err := sweepOf(t, &trials{T: t}, out, text, "1", "2").Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*run.Sweep){
		"it has --rounds 1":             func(s *run.Sweep) { s.Design.Rounds = 2 },
		"its seed is 1":                 func(s *run.Sweep) { s.Design.Seed = 2 },
		"one factor at a time":          func(s *run.Sweep) { s.Design.OneAtATime = true },
		"it varies population.services": func(s *run.Sweep) { *s = sweepOf(t, &trials{T: t}, out, text, "1", "3") },
		"001-services=1 is a run of another scenario": func(s *run.Sweep) {
			*s = sweepOf(t, &trials{T: t}, out, strings.Replace(text, "for: 2s", "for: 3s", 1), "1", "2")
		},
	} {
		s := sweepOf(t, &trials{T: t}, out, text, "1", "2")
		change(&s)
		s.Resume = true
		if _, outcome, err := s.Do(t.Context()); err == nil || outcome != judge.NotRun || !strings.Contains(err.Error(), want) {
			t.Errorf("%s, %v, want %s", outcome, err, want)
		}
	}
}

// Files that are not those of a sweep are not touched.
func TestForeignFolder(t *testing.T) {
	out := t.TempDir()
	mine := filepath.Join(out, "mine.txt")
	if err := os.WriteFile(mine, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s := sweepOf(t, &trials{T: t}, out, text, "1")
	s.Resume = true
	if _, _, err := s.Do(t.Context()); err == nil || !strings.Contains(err.Error(), "choose another --out") {
		t.Error(err)
	}
}

// A combination that cannot be run ends the sweep; finished runs are kept.
func TestNotRun(t *testing.T) {
	f := &trials{T: t, outcomes: map[string]judge.Outcome{"002-services=2": judge.NotRun}}
	doc, outcome, err := sweepOf(t, f, t.TempDir(), text, "1", "2", "3").Do(t.Context())
	if outcome != judge.NotRun || err == nil || err.Error() != "combination 2 (population.services=2): it does not start" || len(doc.Runs) != 1 {
		t.Errorf("%s, %v: %+v", outcome, err, doc.Runs)
	}
}
