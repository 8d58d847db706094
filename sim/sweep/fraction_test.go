package sweep_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/sweep"
)

// knobs returns factors with two values: config.a, config.b …
func knobs(n int) []sweep.Factor {
	var all []sweep.Factor
	for i := range n {
		all = append(all, sweep.Factor{Path: "config." + string(rune('a'+i)), Values: []string{"low", "high"}})
	}
	return all
}

// fraction plans a fraction of n factors, and returns its design and combinations.
func fraction(t *testing.T, n, of int) (sweep.Design, []sweep.Planned) {
	t.Helper()
	design := sweep.Design{Factors: knobs(n), Fraction: &sweep.Fraction{Of: of}, Rounds: 1}
	return design, planOf(t, &design)
}

func planOf(t *testing.T, design *sweep.Design) []sweep.Planned {
	t.Helper()
	planned, err := sweep.Plan([]byte(text), design, load)
	if err != nil {
		t.Fatal(err)
	}
	return planned
}

// 2^(5-1) has resolution V: the fifth factor is the product of the others, and no main effect and no
// pair is confounded with another.
func TestFractionOfResolutionFive(t *testing.T) {
	design, planned := fraction(t, 5, 2)
	f := design.Fraction
	if len(planned) != 16 || f.Resolution != 5 || len(f.Confounded) != 0 {
		t.Errorf("%d runs, %+v", len(planned), f)
	}
	if want := []sweep.Generator{{Path: "config.e", Product: []string{"config.a", "config.b", "config.c", "config.d"}}}; fmt.Sprint(f.Generators) != fmt.Sprint(want) {
		t.Errorf("%+v", f.Generators)
	}
	first, second := planned[0], planned[1]
	if first.String() != "config.a=low, config.b=low, config.c=low, config.d=low, config.e=high" || second.ValueOf(design.Factors[4]) != "low" {
		t.Errorf("%s; %s", first, second)
	}
	if first.Scenario.Config["e"] != "high" {
		t.Errorf("%+v", first.Scenario.Config)
	}
}

// 2^(7-2) has resolution IV: three times two pairs are confounded with each other, no main effect.
func TestFractionOfResolutionFour(t *testing.T) {
	design, planned := fraction(t, 7, 4)
	f := design.Fraction
	if len(planned) != 32 || f.Resolution != 4 || len(f.Generators) != 2 || len(f.Confounded) != 3 {
		t.Fatalf("%d runs, %+v", len(planned), f)
	}
	for _, group := range f.Confounded {
		if group.Path != "" || len(group.Pairs) != 2 {
			t.Errorf("%+v", group)
		}
	}
	for _, factor := range design.Factors { // each value in half of the runs
		high := 0
		for _, p := range planned {
			if p.ValueOf(factor) == "high" {
				high++
			}
		}
		if high != 16 {
			t.Errorf("%s is high in %d runs", factor.Path, high)
		}
	}
}

// With resolution III, each main effect is confounded with interactions.
func TestFractionOfResolutionThree(t *testing.T) {
	design, planned := fraction(t, 3, 2)
	if len(planned) != 4 || design.Fraction.Resolution != 3 || len(design.Fraction.Confounded) != 3 {
		t.Fatalf("%d runs, %+v", len(planned), design.Fraction)
	}
	for _, group := range design.Fraction.Confounded {
		if group.Path == "" || len(group.Pairs) != 1 || slices.Contains(group.Pairs[0][:], group.Path) {
			t.Errorf("%+v", group)
		}
	}
}

func TestFractionRefuses(t *testing.T) {
	three := knobs(4)
	three[2].Values = []string{"x", "y", "z"}
	for want, design := range map[string]sweep.Design{
		"--fraction 1/2: a fraction needs two values of each factor, but config.c has 3": {Factors: three, Fraction: &sweep.Fraction{Of: 2}},
		"--fraction 1/32: 1/32 of the combinations is too few for 7 factors":             {Factors: knobs(7), Fraction: &sweep.Fraction{Of: 32}},
		"it needs at least 3": {Factors: knobs(2), Fraction: &sweep.Fraction{Of: 2}},
		"at most 11":          {Factors: knobs(12), Fraction: &sweep.Fraction{Of: 8}},
		"more than 1000":      {Factors: knobs(11), Fraction: &sweep.Fraction{Of: 2}},
		"one at a time":       {Factors: knobs(4), Fraction: &sweep.Fraction{Of: 2}, OneAtATime: true},
	} {
		if _, err := sweep.Plan([]byte(text), &design, load); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// answered returns the document of a sweep whose figure is a function of the levels, -1 or 1. Runs that
// it reports as invalid are void.
func answered(design sweep.Design, planned []sweep.Planned, of func(levels []float64, round int) (value float64, valid bool)) sweep.Document {
	d := sweep.Document{Design: design, Figures: []sweep.Figure{{Name: "f", Kind: measure.Number}}}
	for _, p := range planned {
		var levels []float64
		for _, f := range design.Factors {
			levels = append(levels, float64(2*slices.Index(f.Values, p.ValueOf(f))-1))
		}
		for round := range design.Rounds {
			value, valid := of(levels, round)
			d.Runs = append(d.Runs, sweep.Run{
				Combination: p.Combination, Round: round + 1, Outcome: judge.Passed,
				Subjects: []sweep.SubjectValues{{Subject: "s", Valid: valid, Values: map[string]float64{"f": value}}},
			})
		}
	}
	d.Evaluate()
	return d
}

// A linear response with an interaction is recovered, and the interaction names its alias.
func TestFractionRecoversResponse(t *testing.T) {
	design, planned := fraction(t, 7, 4)
	group := design.Fraction.Confounded[0].Pairs
	at := func(path string) int {
		return slices.IndexFunc(design.Factors, func(f sweep.Factor) bool { return f.Path == path })
	}
	one, other := at(group[1][0]), at(group[1][1])
	d := answered(design, planned, func(x []float64, _ int) (float64, bool) {
		return 100 + 5*x[0] - 3*x[6] + 2*x[one]*x[other], true
	})
	effects := map[string]sweep.Effect{}
	for _, e := range d.Effects {
		effects[e.Path] = e
	}
	first, last := effects["config.a"], effects["config.g"]
	if len(effects) != 2 || !near(first.Mean, 10) || !near(first.Base, 95) || !near(last.Mean, -6) || !near(last.Base, 103) || !first.Matters() || len(first.Aliases) != 0 {
		t.Errorf("%+v", d.Effects)
	}
	if len(d.Interactions) != 1 {
		t.Fatalf("%+v", d.Interactions)
	}
	found := d.Interactions[0]
	if found.Paths != group[0] || !slices.Equal(found.Aliases, group[1:]) || !near(found.Mean, 8) {
		t.Errorf("%+v, confounded are %v", found, group)
	}
}

// With resolution III, a main effect contains half of the interaction that it names.
func TestFractionNamesAliasOfMainEffect(t *testing.T) {
	design, planned := fraction(t, 3, 2)
	d := answered(design, planned, func(x []float64, _ int) (float64, bool) { return x[0] * x[1], true })
	if len(d.Effects) != 1 || d.Effects[0].Path != "config.c" || !near(d.Effects[0].Mean, 2) || d.Effects[0].Known {
		t.Fatalf("%+v", d.Effects)
	}
	if want := [][2]string{{"config.a", "config.b"}}; !slices.Equal(d.Effects[0].Aliases, want) {
		t.Errorf("%+v", d.Effects[0].Aliases)
	}
}

// With repeated runs, the scatter is that of the runs: ±1 around each mean is a variance of 2, with 8
// degrees of freedom. The interval of a difference of two means of eight runs each is t(0.975, 8) =
// 2.306 times the root of 2·(1/8 + 1/8).
func TestFractionOfRepeatedRuns(t *testing.T) {
	design, planned := fraction(t, 4, 2)
	design.Rounds = 2
	d := answered(design, planned, func(x []float64, round int) (float64, bool) { return 10*x[0] + float64(2*round-1), true })
	if len(d.Effects) != 4 {
		t.Fatalf("%+v", d.Effects)
	}
	if a := d.Effects[0]; !near(a.Mean, 20) || !near(a.High, 20+1.6306) || !a.Matters() {
		t.Errorf("%+v", a)
	}
	if b := d.Effects[1]; !near(b.Mean, 0) || b.Matters() {
		t.Errorf("%+v", b)
	}
}

// A void run does not bias the effects. If too many runs are void to distinguish the effects, there are
// none.
func TestFractionWithVoidRuns(t *testing.T) {
	design, planned := fraction(t, 7, 4)
	response := func(missing ...int) sweep.Document {
		n := 0
		return answered(design, planned, func(x []float64, _ int) (float64, bool) {
			n++
			return 10*x[0] + 3*x[1]*x[2], !slices.Contains(missing, n)
		})
	}
	d := response(3, 12)
	if len(d.Effects) != 1 || !near(d.Effects[0].Mean, 20) || len(d.Interactions) != 1 || !near(d.Interactions[0].Mean, 12) {
		t.Errorf("%+v %+v", d.Effects, d.Interactions)
	}
	if d := response(1, 2, 3, 4, 5, 6, 7, 8); len(d.Effects)+len(d.Interactions) != 0 {
		t.Errorf("%+v %+v", d.Effects, d.Interactions)
	}
}

// The result of a fraction can be read again, as a sweep that continues does.
func TestFractionAsJSON(t *testing.T) {
	design, _ := fraction(t, 7, 8)
	data, err := json.Marshal(design)
	if err != nil {
		t.Fatal(err)
	}
	var again sweep.Design
	if err := json.Unmarshal(data, &again); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprintf("%+v", again.Fraction.Confounded) != fmt.Sprintf("%+v", design.Fraction.Confounded) || again.Fraction.Resolution != 4 {
		t.Errorf("%+v", again.Fraction)
	}
}

func TestParseFraction(t *testing.T) {
	for text, want := range map[string]int{"1/2": 2, "1/4": 4, "1/1024": 1024} {
		if f, err := sweep.ParseFraction(text); err != nil || f.Of != want {
			t.Errorf("%s: %+v, %v", text, f, err)
		}
	}
	for _, text := range []string{"", "1", "1/1", "1/3", "1/0", "1/-2", "2/4", "0.5", "1/2 ", "1/99999999999999999999", "1/2/4", "1/+4"} {
		if f, err := sweep.ParseFraction(text); err == nil || !strings.Contains(err.Error(), "write 1/2, 1/4") {
			t.Errorf("%q: %+v, %v", text, f, err)
		}
	}
}

// A parsed fraction is a power of two, and its String parses to the same fraction.
func FuzzParseFraction(f *testing.F) {
	for _, text := range []string{"1/2", "1/8", "1/3", "1/", "/2", "1/0x10", "1/2147483648"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := sweep.ParseFraction(text)
		if err != nil {
			return
		}
		if got.Of < 2 || got.Of&(got.Of-1) != 0 {
			t.Errorf("%q is %d", text, got.Of)
		}
		if again, err := sweep.ParseFraction(fmt.Sprintf("1/%d", got.Of)); err != nil || again.Of != got.Of {
			t.Errorf("%q is %d, and again %+v, %v", text, got.Of, again, err)
		}
	})
}
