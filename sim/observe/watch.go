package observe

import (
	"context"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/follow"
)

// watch records the changes until ctx ends, or the time is over, including those that have arrived but are
// not yet recorded. It returns the error of the lanes if they fail.
func (ob *observation) watch(ctx context.Context, failures <-chan error) error {
	if ob.Length > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, ob.Length)
		defer cancel()
	}
	defer ob.cluster.Drain(ob.change, ob.outage)
	for {
		select {
		case told := <-ob.cluster.Events:
			ob.change(told)
		case why := <-ob.cluster.Outages:
			ob.outage(why)
		case failed := <-failures:
			return failed
		case <-ctx.Done():
			return nil
		}
	}
}

func (ob *observation) change(e follow.Event) {
	change := ob.ledger.Add(e.Object, e.Gone, e.At)
	if change == nil {
		return
	}
	if ob.canary == nil {
		change.Host, change.Path, change.TLS, change.Confirmation = "", "", false, nil
	}
	ob.log.Write(event.Event{At: ob.log.At(e.At), Subject: subjectName, Change: change})
	if ob.canary != nil {
		ob.canary.Watch(*change)
	}
}

func (ob *observation) outage(why error) {
	ob.trouble("the API server could not be read: changes until it answered again are late or missing", why.Error())
}
