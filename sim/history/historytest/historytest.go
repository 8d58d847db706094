// Package historytest generates histories for tests. Its one rule: the same random source gives the
// same history.
package historytest

import (
	"crypto/sha1"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"windtunnel.dev/internal/gitrepo"
	"windtunnel.dev/sim/history"
	"windtunnel.dev/sim/measure"
)

// Machine generates histories in which every figure varies randomly: times and sizes around a mean
// with outliers, counts of random events with a Poisson distribution.
type Machine struct {
	Random *rand.Rand
	Spread float64 // relative, of figures that vary
	Events float64 // mean number of random events in a run
}

// counts are figures that count random events; other counts are the same in every run.
var counts = map[string]bool{
	"syncs.failed": true, "converge.flaps": true, "requests.failed": true, "requests.retries": true, "requests.sockets": true,
}

func (m Machine) figures() map[string]float64 {
	all := map[string]float64{}
	for _, f := range measure.Figures() {
		switch {
		case counts[f.Name]:
			all[f.Name] = float64(m.poisson())
		case f.Kind == measure.Count:
			all[f.Name] = 7
		default:
			noise := m.Random.NormFloat64()
			if m.Random.IntN(20) == 0 {
				noise *= 5 // a slow moment
			}
			all[f.Name] = mean(f) * math.Exp(m.Spread*noise)
		}
	}
	return all
}

// mean returns the mean of a figure, far above the least rise that matters.
func mean(f measure.Figure) float64 { return 100 * f.Budget.More }

// poisson returns a random number with a Poisson distribution, by Knuth's algorithm for small means.
func (m Machine) poisson() int {
	n, p := 0, m.Random.Float64()
	for limit := math.Exp(-m.Events); p > limit; n++ {
		p *= m.Random.Float64()
	}
	return n
}

// Start is the time when the first commit was made and measured.
var Start = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// History generates a run for each of n commits. change changes the figures of the i-th one.
func (m Machine) History(n int, change func(i int, figures map[string]float64)) []history.Run {
	var runs []history.Run
	for i := range n {
		figures := m.figures()
		if change != nil {
			change(i, figures)
		}
		runs = append(runs, RunOf(i, figures))
	}
	return runs
}

// Hash returns the hash of the i-th commit.
func Hash(i int) string { return fmt.Sprintf("%x", sha1.Sum(fmt.Append(nil, i))) }

// RunOf returns the run of the i-th commit, by a subject with these figures.
func RunOf(i int, figures map[string]float64) history.Run {
	at := Start.Add(time.Duration(i) * time.Hour)
	return history.Run{
		Entry: history.Entry{
			Commit: gitrepo.Commit{Hash: Hash(i), Time: at}, Scenario: "storm", Start: at,
			Setup: map[string]string{"cpu": "a"}, Environment: map[string]string{"kernel": "6.1"},
		},
		Folder:  fmt.Sprint("storm/", i),
		Figures: map[string]map[string]float64{"dynamic": figures},
	}
}
