package figure_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/predict/figure"
	"windtunnel.dev/sim/predict/simulate"
)

func TestConditions(t *testing.T) {
	all, err := figure.ParseConditions("p99 staleness < 3s, memory.peak<=8GiB,busy < 80 %, lost >= 5, peak memory > 512Mi")
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		name    string
		bound   float64
		yes, no float64
	}{
		{"staleness.p99", 3, 2.9, 3}, {"memory.peak", 8192, 8192, 8193}, {"busy", 0.8, 0.7, 0.8}, {"lost", 5, 5, 4}, {"memory.peak", 512, 513, 512},
	}
	for i, w := range want {
		c := all[i]
		if c.Figure.Name != w.name || c.Bound != w.bound || !c.Holds(w.yes) || c.Holds(w.no) {
			t.Errorf("%q: %s %s %v", c.Text, c.Figure.Name, c.Sign, c.Bound)
		}
	}
}

func TestBadConditions(t *testing.T) {
	for text, want := range map[string]string{
		"":                    "is not a condition",
		"staleness.p99 3s":    "is not a condition",
		"staleness.p98 < 3s":  "did you mean staleness.p",
		"staleness.p99 < 3":   "is not a duration",
		"memory.peak < much":  "is not an amount of memory",
		"reloads < few":       "is not a number",
		"reloads < 3, lost <": "is not a condition",
		"reloads < NaN":       "is not a number",
		"lost < inf":          "is not a number",
		"busy < NaN%":         "is not a number",
	} {
		if c, err := figure.ParseConditions(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v, want an error with %q", text, c, err, want)
		}
	}
}

func TestQuantiles(t *testing.T) {
	o := simulate.Outcome{}
	for i := range 100 {
		o.Last = append(o.Last, time.Duration(100-i)*time.Second)
	}
	for name, want := range map[string]float64{"staleness.p50": 50, "staleness.p99": 99, "staleness.max": 100, "first.p50": 0} {
		f, _ := figure.Find(name)
		if got := f.Of(o); got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if !slices.IsSorted(o.Last[1:]) && o.Last[0] != 100*time.Second {
		t.Error("the outcome was changed")
	}
}
