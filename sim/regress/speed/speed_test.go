package speed_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/sim/regress/speed"
)

// recorded returns rounds with one figure.
func recorded(figure string, values ...float64) []speed.Round {
	var all []speed.Round
	for _, v := range values {
		all = append(all, speed.Round{Values: map[string]float64{figure: v}})
	}
	return all
}

var steady = []float64{1, 1.01, 1.02, 1, 1.03, 1.01, 0.99, 1.02}

func times(factor float64) []float64 {
	var all []float64
	for _, v := range steady {
		all = append(all, v*factor)
	}
	return all
}

func TestVerdicts(t *testing.T) {
	for _, test := range []struct {
		name       string
		base, head []float64
		budgets    map[string]float64
		want       speed.Verdict
		void       bool
	}{
		{"slower", steady, times(2), nil, speed.More, false},
		{"faster", steady, times(0.5), nil, speed.Less, false},
		{"the same", steady, steady, nil, speed.Same, false},
		{"within the budget", steady, times(1.05), nil, speed.Same, false},
		{"above a budget of its own", steady, times(1.1), map[string]float64{"request-cpu-auth": 0.05}, speed.More, false},
		{"above the budget of its group", steady, times(1.1), map[string]float64{"request-cpu": 0.05, "render-cpu": 3}, speed.More, false},
		{"within a budget of its own", steady, times(2), map[string]float64{"request-cpu-auth": 1.5, "request-cpu": 0.05}, speed.Same, false},
		{"too few rounds", steady[:2], times(2)[:2], nil, speed.Unknown, true},
		{"one side only", steady, nil, nil, speed.Unknown, true},
	} {
		r := speed.Judge(recorded("request-cpu-auth", test.base...), recorded("request-cpu-auth", test.head...), test.budgets)
		if f := r.Figures[0]; f.Verdict != test.want || r.Void() != test.void || (f.Verdict == speed.Unknown) != (f.Why != "") {
			t.Errorf("%s: %+v, void %v; want %q, %v", test.name, f, r.Void(), test.want, test.void)
		}
	}
}

// A figure in which base differs from itself has no verdict; the others keep theirs. It makes the result
// void only if it does not depend on the load of the machine.
func TestNoiseOfOneFigure(t *testing.T) {
	noisy := []float64{1, 2, 1.1, 2.1, 1, 2, 1.1, 2.2, 1, 2, 1.1, 2.1}
	for figure, void := range map[string]bool{"first-worker": false, "render-cpu": true} {
		var base, head []speed.Round
		for i, v := range noisy {
			base = append(base, speed.Round{Values: map[string]float64{figure: v, "conf-size": 1000}})
			head = append(head, speed.Round{Values: map[string]float64{figure: v + 9, "conf-size": 1100 + float64(i%2)}})
		}
		r := speed.Judge(base, head, nil)
		for _, f := range r.Figures {
			switch f.Name {
			case figure:
				if f.Verdict != speed.Unknown || !strings.Contains(f.Why, "base differs from itself") {
					t.Errorf("%+v", f)
				}
			default:
				if f.Verdict != speed.More {
					t.Errorf("%+v: want more", f)
				}
			}
		}
		if r.Void() != void {
			t.Errorf("%s is noisy: void %v, want %v", figure, r.Void(), void)
		}
	}
}

type side struct {
	name  string
	calls *[]string
}

func (s side) Measure(context.Context) (speed.Round, error) {
	*s.calls = append(*s.calls, s.name)
	return speed.Round{
		Values: map[string]float64{"render-cpu": 1}, Invisible: map[string]string{"last-worker": "foreign Lua"},
		Failed: map[string]string{"request-cpu-auth": "answers 500"},
	}, nil
}

// The sides take turns after a measurement that does not count. A figure that was not measured says why.
func TestTurns(t *testing.T) {
	var calls []string
	r, err := speed.Run(t.Context(), speed.Options{Base: side{"base", &calls}, Head: side{"head", &calls}, Rounds: 2})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"base", "head", "base", "head", "head", "base"}; !slices.Equal(calls, want) {
		t.Errorf("order %v, want %v", calls, want)
	}
	want := []struct {
		name, why string
		invisible bool
		values    int
	}{{"render-cpu", "too few runs", false, 2}, {"last-worker", "foreign Lua", true, 0}, {"request-cpu-auth", "answers 500", false, 0}}
	for i, f := range r.Figures {
		w := want[i]
		if f.Name != w.name || f.Why != w.why || f.Invisible != w.invisible || len(f.Base) != w.values || len(f.Head) != w.values || f.Verdict != speed.Unknown {
			t.Errorf("%+v, want %+v", f, w)
		}
	}
	if !r.Void() {
		t.Error("requests failed, but the result is not void")
	}
}
