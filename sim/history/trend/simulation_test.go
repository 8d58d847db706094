package trend_test

import (
	"math/rand/v2"
	"testing"

	"windtunnel.dev/sim/compare"
	"windtunnel.dev/sim/history"
	"windtunnel.dev/sim/history/historytest"
	"windtunnel.dev/sim/history/trend"
)

func of(t *testing.T, runs []history.Run) trend.Trend {
	t.Helper()
	got, err := trend.Of(runs, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Of flat histories with all figures, at most 5 % have a step.
func TestFlatHistories(t *testing.T) {
	t.Parallel()
	for _, m := range []historytest.Machine{{Spread: 0.05, Events: 0.5}, {Spread: 0.1, Events: 3}, {Spread: 0.3, Events: 8}} {
		for _, n := range []int{8, 40} {
			m.Random = rand.New(rand.NewPCG(1, uint64(1000*m.Events)+uint64(n)))
			wrong := 0
			for range histories {
				steps := 0
				for _, s := range of(t, m.History(n, nil)).Series {
					steps += len(s.Steps)
				}
				if steps > 0 {
					wrong++
				}
			}
			t.Logf("spread %v, %v events, %d commits: %d of %d flat histories have a step", m.Spread, m.Events, n, wrong, histories)
			if 100*wrong > 5*histories {
				t.Error("more than 5 %")
			}
		}
	}
}

// A regression is found at the right commit in 95 % of the histories, even if it creeps in over ten
// commits that each add less than the noise of a pair. No other figure has a step.
func TestRegressions(t *testing.T) {
	const n, at, figure = 40, 22, "cpu.nginx"
	for _, test := range []struct {
		name   string
		by     float64 // relative
		over   int     // commits
		widest float64 // mean number of commits that a step names
	}{
		{"at once", 0.25, 1, 2.5},
		{"creeping", 0.4, 10, 6},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := historytest.Machine{Random: rand.New(rand.NewPCG(2, 2)), Spread: 0.05, Events: 3}
			found, others, width := 0, 0, 0
			for range histories {
				trend := of(t, m.History(n, func(i int, figures map[string]float64) {
					figures[figure] *= 1 + test.by*min(1, max(0, float64(i-at+1)/float64(test.over)))
				}))
				there := 0
				for _, s := range trend.Series {
					for _, step := range s.Steps {
						if s.Figure == figure && step.Verdict == "WORSE" && step.Lasting && step.First < at+test.over && step.Last >= at {
							there++
							width += step.Last - step.First + 1
						} else {
							others++
						}
					}
				}
				if there > 0 {
					found++
				}
			}
			mean := float64(width) / float64(found)
			t.Logf("found %d of %d at the right commit, as %.1f commits; %d other steps", found, histories, mean, others)
			if 100*found < 95*histories || 100*others > 5*histories || mean > test.widest {
				t.Errorf("want 95 %%, as %v commits at most, and at most 5 %% of other steps", test.widest)
			}
		})
	}
}

// A history of 200 commits with six subjects, each with a step.
func BenchmarkOf(b *testing.B) {
	m := historytest.Machine{Random: rand.New(rand.NewPCG(4, 4)), Spread: 0.05, Events: 3}
	runs := m.History(200, nil)
	for i := range runs {
		for _, subject := range []string{"b", "c", "d", "e", "f"} {
			runs[i].Figures[subject] = m.History(1, func(_ int, figures map[string]float64) {
				if i >= 150 {
					figures["cpu.nginx"] *= 1.3
				}
			})[0].Figures["dynamic"]
		}
	}
	for b.Loop() {
		if _, err := trend.Of(runs, compare.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
