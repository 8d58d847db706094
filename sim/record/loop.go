package record

import (
	"context"
	"time"

	"windtunnel.dev/sim/follow"
)

// follow records the follower's events until ctx is done, including those that have arrived but are not
// yet recorded.
func (r *recorder) follow(ctx context.Context, follower *follow.Follower, began time.Time, o Options) {
	report := time.NewTimer(follow.ReportAfter(0))
	defer report.Stop()
	for {
		select {
		case e := <-follower.Events:
			r.change(e, began, o)
		case <-report.C:
			took := time.Since(began)
			report.Reset(follow.ReportAfter(took))
			if o.Progress != nil {
				o.Progress(took, len(r.changes))
			}
		case why := <-follower.Outages:
			r.outage(why, o)
		case <-ctx.Done():
			follower.Drain(func(e follow.Event) { r.change(e, began, o) }, func(why error) { r.outage(why, o) })
			return
		}
	}
}

// change records an event that follows the initial state.
func (r *recorder) change(e follow.Event, began time.Time, o Options) {
	before := len(r.changes)
	r.add(e, time.Since(began))
	if o.Changed != nil && len(r.changes) > before {
		o.Changed(len(r.changes))
	}
}

func (r *recorder) outage(why error, o Options) {
	r.countOmitted("times without the API server: changes in them are late or missing")
	if o.Outage != nil {
		o.Outage(why)
	}
}
