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

// search searches for the objects that nginx rejects, until another sync is due. err is the error
// of serve. changed means that serve would now give a different result.
func (c *controller) search(ctx context.Context, v view, err error) (changed bool, _ error) {
	var rejection *apply.Rejection
	rejected := errors.As(err, &rejection)
	if rejected {
		c.quarantine.Suspect(v.cluster, rejection.Unwrap().Error())
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
	return changed || rejected, err
}

// test runs nginx -t on the configuration of a cluster. words is nginx's message if it rejects it.
func (c *controller) test(ctx context.Context, cluster snapshot.Snapshot) (words string, rejected bool, err error) {
	err = c.try(ctx, cluster, c.input.now())
	var rejection *apply.Rejection
	if errors.As(err, &rejection) {
		return rejection.Unwrap().Error(), true, nil
	}
	if err != nil {
		c.Log.Warn("a quarantine test failed to run", "error", err.Error())
	}
	return "", false, err
}

// try runs nginx -t on the configuration of a cluster. The error is an *apply.Rejection if nginx
// rejects it.
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
