package sweep_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/sweep"
)

// document returns the document of a sweep of two factors a and b, with values of a figure: one run
// per value.
func document(oneAtATime bool, values map[[2]string][]float64) sweep.Document {
	d := sweep.Document{
		Design: sweep.Design{OneAtATime: oneAtATime, Factors: []sweep.Factor{
			{Path: "population.services", Values: []string{"1", "2"}, Own: "1"}, {Path: "population.pods", Values: []string{"3", "4"}, Own: "3"},
		}},
		Figures: []sweep.Figure{{Name: "f", Kind: measure.Time}},
	}
	number := 0
	for _, a := range []string{"1", "2"} {
		for _, b := range []string{"3", "4"} {
			number++
			c := sweep.Combination{Number: number, Settings: []sweep.Setting{{Path: "population.services", Value: a}, {Path: "population.pods", Value: b}}}
			for i, value := range values[[2]string{a, b}] {
				d.Runs = append(d.Runs, sweep.Run{Combination: c, Round: i + 1, Outcome: judge.Passed, Subjects: []sweep.SubjectValues{{Subject: "s", Valid: true, Values: map[string]float64{"f": value}}}})
			}
		}
	}
	d.Evaluate()
	return d
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-3 }

// With repeated runs, the scatter is that of the runs: here a variance of 2 (±1 around each mean) with
// four degrees of freedom. The interval of a difference of two means of four runs each is t(0.975, 4) =
// 2.776 times the root of 2·(1/4 + 1/4); that of the interaction, of four means of two runs, is 2.776
// times the root of 2·4/2.
func TestEffectsOfRepeatedRuns(t *testing.T) {
	d := document(false, map[[2]string][]float64{
		{"1", "3"}: {9, 11}, {"1", "4"}: {19, 21}, {"2", "3"}: {29, 31}, {"2", "4"}: {59, 61},
	})
	if len(d.Effects) != 2 || len(d.Interactions) != 1 {
		t.Fatalf("%+v %+v", d.Effects, d.Interactions)
	}
	a, b, both := d.Effects[0], d.Effects[1], d.Interactions[0]
	if !near(a.Mean, 30) || !near(a.Low, 30-2.776) || !near(a.High, 30+2.776) || !near(a.Base, 15) || a.From != "1" || a.To != "2" {
		t.Errorf("%+v", a)
	}
	if !near(b.Mean, 20) || !near(b.Base, 20) || b.Path != "population.pods" || !b.Matters() {
		t.Errorf("%+v", b)
	}
	if !near(both.Mean, 20) || !near(both.High-both.Low, 2*2.7764*2) {
		t.Errorf("%+v", both)
	}
}

// An interaction within the scatter is not reported.
func TestNoInteraction(t *testing.T) {
	d := document(false, map[[2]string][]float64{
		{"1", "3"}: {9, 11}, {"1", "4"}: {19, 21}, {"2", "3"}: {29, 31}, {"2", "4"}: {39, 42},
	})
	if len(d.Interactions) != 0 || len(d.Effects) != 2 {
		t.Errorf("%+v", d.Interactions)
	}
}

// With one run each, the scatter of an effect is that between the values of the other factor, with one
// degree of freedom (t = 12.706): differences 20 and 40 have the mean 30 and the deviation 14.142. The
// interaction has no interval.
func TestEffectsOfSingleRuns(t *testing.T) {
	d := document(false, map[[2]string][]float64{{"1", "3"}: {10}, {"1", "4"}: {20}, {"2", "3"}: {30}, {"2", "4"}: {60}})
	a := d.Effects[0]
	if !near(a.Mean, 30) || !near(a.High, 30+127.062) || !a.Known || a.Matters() {
		t.Errorf("%+v", a)
	}
	if len(d.Interactions) != 0 {
		t.Errorf("%+v", d.Interactions)
	}
}

// Void runs and combinations without a counterpart do not count.
func TestVoidRunsDoNotCount(t *testing.T) {
	d := document(false, map[[2]string][]float64{{"1", "3"}: {10}, {"1", "4"}: {20}, {"2", "3"}: {30}, {"2", "4"}: {60}})
	d.Runs[3].Subjects[0].Valid = false
	d.Evaluate()
	if a := d.Effects[0]; a.Mean != 20 || a.Known || a.Base != 10 {
		t.Errorf("%+v", a)
	}
	if last := d.Rows[3]; last.Void != 1 || last.Runs != 0 || len(last.Values) != 0 {
		t.Errorf("%+v", last)
	}
}

// If one factor varies at a time, each value is compared with the scenario's own.
func TestEffectsOneAtATime(t *testing.T) {
	d := document(true, map[[2]string][]float64{{"1", "3"}: {10, 12}, {"1", "4"}: {20, 22}, {"2", "3"}: {30, 32}})
	if len(d.Effects) != 2 || len(d.Interactions) != 0 {
		t.Fatalf("%+v %+v", d.Effects, d.Interactions)
	}
	if a, b := d.Effects[0], d.Effects[1]; !near(a.Mean, 20) || a.From != "1" || !near(b.Mean, 10) || !a.Known {
		t.Errorf("%+v %+v", a, b)
	}
}

// A document without runs has empty lists, as its schema requires.
func TestNoRuns(t *testing.T) {
	d := sweep.Document{Runs: []sweep.Run{}}
	d.Evaluate()
	if text, err := json.Marshal(d); err != nil || !strings.Contains(string(text), `"rows":[]`) {
		t.Errorf("%s, %v", text, err)
	}
}

// A figure that never differs has no effects.
func TestNoEffects(t *testing.T) {
	d := document(false, map[[2]string][]float64{{"1", "3"}: {5, 5}, {"1", "4"}: {5, 5}, {"2", "3"}: {5, 5}, {"2", "4"}: {5, 5}})
	if len(d.Effects)+len(d.Interactions) != 0 || d.Rows[0].Values["f"] != 5 || d.Rows[0].Runs != 2 {
		t.Errorf("%+v %+v", d.Effects, d.Rows)
	}
}

func TestChoose(t *testing.T) {
	all, err := sweep.Choose(nil, []string{"http", "post"})
	if err != nil || all[len(all)-1].Name != "lanes.post.failed" {
		t.Errorf("%+v, %v", all, err)
	}
	for _, names := range [][]string{{"nothing"}, {"reloads", "reloads"}} {
		if _, err := sweep.Choose(names, nil); err == nil {
			t.Errorf("%s: no error", names)
		}
	}
}

// Factors that vary one at a time have few combinations, even if the full design has very many.
func TestEffectsOfManyFactors(t *testing.T) {
	d := sweep.Document{Design: sweep.Design{OneAtATime: true}, Figures: []sweep.Figure{{Name: "f", Kind: measure.Time}}}
	add := func(value float64, settings ...sweep.Setting) {
		c := sweep.Combination{Number: len(d.Runs) + 1, Settings: settings}
		d.Runs = append(d.Runs, sweep.Run{Combination: c, Round: 1, Subjects: []sweep.SubjectValues{{Subject: "s", Valid: true, Values: map[string]float64{"f": value}}}})
	}
	add(1)
	for i := range 60 {
		f := sweep.Factor{Path: fmt.Sprint("config.key-", i), Values: []string{"a", "b"}, Own: "a"}
		d.Design.Factors = append(d.Design.Factors, f)
		add(float64(i+2), sweep.Setting{Path: f.Path, Value: "b"})
	}
	d.Evaluate()
	if len(d.Effects) != 60 || len(d.Interactions) != 0 {
		t.Fatalf("%d effects, %d interactions", len(d.Effects), len(d.Interactions))
	}
	for i, e := range d.Effects {
		if e.Path != d.Design.Factors[i].Path || e.Base != 1 || e.Mean != float64(i+1) {
			t.Errorf("effect %+v", e)
		}
	}
}
