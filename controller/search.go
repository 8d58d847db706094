package controller

import (
	"context"
	"errors"
	"time"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/quarantine"
	"windtunnel.dev/controller/snapshot"
)

// search looks for the objects that nginx refuses, until another sync is due. err is the error of
// serve. changed means that serve would now have a different result.
func (c *controller) search(ctx context.Context, v view, err error) (changed bool, _ error) {
	var refusal *apply.Refusal
	refused := errors.As(err, &refusal)
	if refused {
		c.quarantine.Suspect(v.cluster, refusal.Unwrap().Error())
	} else if err != nil && c.quarantine.Frozen() == nil {
		return false, err
	}
	changed, hopeless := c.quarantine.Bisect(ctx, v.cluster, quarantine.Tester{
		Clock:  time.Now,
		Test:   c.test,
		Report: func(verdict quarantine.Verdict) { c.observer.Verdict(v.cluster, verdict) },
		Yield:  func() bool { return c.store.Changes().Newest() != v.change && c.limit.Tokens() >= 1 },
	})
	if hopeless != nil {
		return false, hopeless
	}
	return changed || refused, err
}

// test runs nginx -t on the configuration of a cluster.
func (c *controller) test(ctx context.Context, cluster snapshot.Snapshot) (words string, refused bool, err error) {
	err = c.try(ctx, cluster, c.input.now())
	var refusal *apply.Refusal
	if errors.As(err, &refusal) {
		return refusal.Unwrap().Error(), true, nil
	}
	if err != nil {
		c.Log.Warn("a quarantine test failed to run", "error", err.Error())
	}
	return "", false, err
}

// try runs nginx -t on the configuration of a cluster. The error is an *apply.Refusal if nginx
// refuses it.
func (c *controller) try(ctx context.Context, cluster snapshot.Snapshot, input compile.Input) error {
	compiled, err := compile.Compile(cluster, input)
	if err != nil {
		return err
	}
	return c.target.Try(ctx, compiled.State)
}

// scheduleSearch schedules a sync for the time of the next trial.
func (c *controller) scheduleSearch() {
	if c.nextSearch != nil {
		c.nextSearch.Stop()
		c.nextSearch = nil
	}
	if wait, any := c.quarantine.Wait(time.Now()); any {
		c.nextSearch = time.AfterFunc(wait, func() { c.queue.Force("quarantine") })
	}
}
