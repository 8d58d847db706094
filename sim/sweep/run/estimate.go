package run

import (
	"fmt"
	"time"

	"windtunnel.dev/internal/plural"
)

// estimate estimates how long runs take, from finished runs.
type estimate struct{ took, planned time.Duration }

// made adds a run that is finished.
func (e *estimate) made(t task, took time.Duration) {
	e.took += took
	e.planned += planned(t)
}

// left returns an estimate of how long the given runs take. Before the first run is finished, it is
// the length of their timelines, which they exceed.
func (e *estimate) left(tasks []task) string {
	var sum time.Duration
	for _, t := range tasks {
		sum += planned(t)
	}
	runs := plural.Of(len(tasks), "run")
	if e.planned == 0 {
		return fmt.Sprintf("; %s left, more than %v", runs, rounded(sum))
	}
	return fmt.Sprintf("; %s left, about %v", runs, rounded(time.Duration(float64(sum)*float64(e.took)/float64(e.planned))))
}

// planned returns how long the timeline of a run takes with all its subjects, at least a second.
func planned(t task) time.Duration {
	return max(time.Second, t.Scenario.Length()*time.Duration(max(1, len(t.Scenario.Subjects))))
}

func rounded(d time.Duration) time.Duration {
	if d > 10*time.Minute {
		return d.Round(time.Minute)
	}
	return d.Round(time.Second)
}
