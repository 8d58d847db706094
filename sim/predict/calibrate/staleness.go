package calibrate

import (
	"slices"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
)

// staleness returns, in order, how long changes took until the first worker and until every worker
// served them. As in a prediction, a change that was not served took at least until the end of its
// round; the measurements converge.first and converge.last leave it out.
func (r *Run) staleness() (first, last []time.Duration) {
	for _, c := range r.changes {
		switch c.Fate {
		case measure.Converged:
			first, last = append(first, c.First), append(last, c.Last)
		case measure.Unconverged:
			open := r.roundEnd(c.At) - c.At
			last = append(last, open)
			if c.First >= 0 {
				open = c.First
			}
			first = append(first, open)
		case measure.Failed, measure.Superseded, measure.Unwatched:
		}
	}
	slices.Sort(first)
	slices.Sort(last)
	return first, last
}

// roundEnd returns when the round ended in which a change was made at this time.
func (r *Run) roundEnd(at time.Duration) time.Duration {
	for _, e := range r.events {
		if e.At >= at && e.Phase != nil && e.Phase.Name == event.RoundEnd {
			return e.At
		}
	}
	return max(at, r.events[len(r.events)-1].At)
}
