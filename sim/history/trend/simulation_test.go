package trend_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"windtunnel.dev/internal/gitrepo"
	"windtunnel.dev/sim/compare"
	"windtunnel.dev/sim/history"
	"windtunnel.dev/sim/history/trend"
	"windtunnel.dev/sim/measure"
)

// machine makes up histories in which every figure varies by chance: times and sizes around a mean
// with outliers, counts of random events with a Poisson distribution.
type machine struct {
	random *rand.Rand
	spread float64 // relative, of figures that vary
	events float64 // mean number of random events in a run
}

// counts are figures that count random events; those of the other counts are the same in every run.
var counts = map[string]bool{
	"syncs.failed": true, "converge.flaps": true, "requests.failed": true, "requests.retries": true, "requests.sockets": true,
}

func (m machine) figures() map[string]float64 {
	all := map[string]float64{}
	for _, f := range measure.Figures() {
		switch {
		case counts[f.Name]:
			all[f.Name] = float64(m.poisson())
		case f.Kind == measure.Count:
			all[f.Name] = 7
		default:
			noise := m.random.NormFloat64()
			if m.random.IntN(20) == 0 {
				noise *= 5 // a slow moment
			}
			all[f.Name] = mean(f) * math.Exp(m.spread*noise)
		}
	}
	return all
}

// mean is far above the least rise that matters for the figure.
func mean(f measure.Figure) float64 { return 100 * f.Budget.More }

// poisson uses Knuth's algorithm, for small means.
func (m machine) poisson() int {
	n, p := 0, m.random.Float64()
	for limit := math.Exp(-m.events); p > limit; n++ {
		p *= m.random.Float64()
	}
	return n
}

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// history makes up a run for each of n commits. change changes the figures of the i-th one.
func (m machine) history(n int, change func(i int, figures map[string]float64)) []history.Run {
	var runs []history.Run
	for i := range n {
		figures := m.figures()
		if change != nil {
			change(i, figures)
		}
		runs = append(runs, runOf(i, figures))
	}
	return runs
}

// runOf returns the run of the i-th commit.
func runOf(i int, figures map[string]float64) history.Run {
	at := noon.Add(time.Duration(i) * time.Hour)
	return history.Run{
		Entry: history.Entry{
			Commit: gitrepo.Commit{Hash: fmt.Sprintf("%040x", i+1), Time: at}, Scenario: "storm", Start: at,
			Setup: map[string]string{"cpu": "a"}, Environment: map[string]string{"kernel": "6.1"},
		},
		Folder:  fmt.Sprint("storm/", i),
		Figures: map[string]map[string]float64{"dynamic": figures},
	}
}

func of(t *testing.T, runs []history.Run) trend.Trend {
	t.Helper()
	got, err := trend.Of(runs, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// Of 100 flat histories with all figures, at most 5 have a step.
func TestFlatHistories(t *testing.T) {
	for _, m := range []machine{{spread: 0.05, events: 0.5}, {spread: 0.1, events: 3}, {spread: 0.3, events: 8}} {
		for _, n := range []int{8, 40} {
			m.random = rand.New(rand.NewPCG(1, uint64(1000*m.events)+uint64(n)))
			wrong := 0
			for range 100 {
				steps := 0
				for _, s := range of(t, m.history(n, nil)).Series {
					steps += len(s.Steps)
				}
				if steps > 0 {
					wrong++
				}
			}
			t.Logf("spread %v, %v events, %d commits: %d of 100 flat histories have a step", m.spread, m.events, n, wrong)
			if wrong > 5 {
				t.Errorf("spread %v, %v events, %d commits: %d of 100 flat histories have a step", m.spread, m.events, n, wrong)
			}
		}
	}
}

// A regression is found at the right commit in 95 of 100 histories, also if it creeps in over ten
// commits of which each adds less than the noise of a pair. No other figure has a step.
func TestRegressions(t *testing.T) {
	const n, at, figure = 50, 30, "cpu.nginx"
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
			m := machine{random: rand.New(rand.NewPCG(2, 2)), spread: 0.05, events: 3}
			found, others, width := 0, 0, 0
			for range 100 {
				trend := of(t, m.history(n, func(i int, figures map[string]float64) {
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
			t.Logf("found %d of 100 at the right commit, as %.1f commits; %d other steps", found, float64(width)/float64(found), others)
			if found < 95 || others > 5 || float64(width)/float64(found) > test.widest {
				t.Errorf("found %d of 100 at the right commit, as %.1f commits; %d other steps", found, float64(width)/float64(found), others)
			}
		})
	}
}
