package web

import (
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/report"
	"windtunnel.dev/sim/watch"
)

// update is a message to a browser: the status, and the changes since the last update.
type update struct {
	Status   watch.Status `json:"status"`
	Subjects []change     `json:"subjects"`
	Result   *Result      `json:"result,omitempty"` // of a run that is over
}

// change is the change of a subject's timeline (measure.Update), with its curves and the new lines of its
// controller's log.
type change struct {
	measure.Timeline
	Changes  *struct{}               `json:"changes,omitempty"` // hides the changes of the timeline
	Curves   []report.Curve          `json:"curves,omitempty"`  // all of them; empty if they did not change
	Failures []measure.FailedRequest `json:"failures"`
	Log      []string                `json:"log"`
}

// seen is the state that a browser has already received.
type seen struct {
	version int
	served  []int // changes in the curves, by subject
	lines   []int // lines of the logs, by subject
}

// update returns the update for a browser, and adds it to seen.
func (s *Server) update(seen *seen, last bool) update {
	first := seen.lines == nil
	if first {
		seen.served, seen.lines = make([]int, len(s.logs)), make([]int, len(s.logs))
	}
	var u update
	var changed []measure.Update
	u.Status, changed, seen.version = s.options.Run.Since(seen.version)
	for i, c := range changed {
		one := change{Timeline: c.Timeline, Failures: c.Failures}
		if first || c.Served != seen.served[i] {
			seen.served[i] = c.Served
			one.Curves = report.Curves(c.Served, c.First, c.Every)
		}
		one.Log, seen.lines[i] = s.logs[i].since(seen.lines[i])
		u.Subjects = append(u.Subjects, one)
	}
	if last {
		u.Result = &s.result
	}
	return u
}
