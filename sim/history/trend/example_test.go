package trend_test

import (
	"fmt"
	"time"

	"windtunnel.dev/internal/gitrepo"
	"windtunnel.dev/sim/compare"
	"windtunnel.dev/sim/history"
	"windtunnel.dev/sim/history/trend"
)

func Example() {
	var runs []history.Run // usually history.Store("history").Runs()
	for i, seconds := range []float64{4.0, 4.1, 3.9, 4.0, 4.1, 4.0, 3.9, 4.0, 4.1, 5.1, 5.0, 5.2, 5.1, 5.1} {
		commit := gitrepo.Commit{Hash: fmt.Sprint("commit ", i), Time: time.Unix(int64(i), 0)}
		runs = append(runs, history.Run{
			Entry:   history.Entry{Scenario: "storm", Commit: commit},
			Figures: map[string]map[string]float64{"dynamic": {"cpu.nginx": seconds}},
		})
	}
	t, err := trend.Of(runs, compare.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range t.Series {
		for _, step := range s.Steps {
			fmt.Printf("%s: %s at %s, from %v s to %v s\n", s.Figure, step.Verdict, t.Commits[s.Points[step.At].Commit].Hash, step.Before, step.After)
		}
	}
	// Output: cpu.nginx: WORSE at commit 9, from 4 s to 5.1 s
}
