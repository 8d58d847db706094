package controller

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/conf"
	"windtunnel.dev/controller/metrics"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/plan"
)

// diff returns the steps from nginx's running state to next. If a reload must wait, held is true,
// and the steps omit the changes that need the reload.
func (c *controller) diff(next plan.State, opts options.Options) (steps []plan.Step, held bool) {
	running := c.target.Running()
	steps = plan.Diff(running, next)
	if len(steps) == 0 || steps[0].Kind != plan.Reload {
		return steps, false
	}
	if running.Conf.Len() == 0 {
		c.reloads.start()
		return steps, false
	}
	c.logDiff(running.Conf, next.Conf)
	if !c.reloadMustWait(opts) {
		return steps, false
	}
	return plan.Diff(running, plan.Hold(running, next)), true
}

// reloadMustWait reports whether a reload must wait: with enable-serial-reloads, for the old
// workers of the previous reload; with a limit of reloads, for the limit. A sync follows when the
// wait ends.
func (c *controller) reloadMustWait(opts options.Options) bool {
	// Set before the check, so that workers that end in between trigger the sync.
	c.held.Store(opts.Config.EnableSerialReloads)
	if opts.Config.EnableSerialReloads && c.target.Draining() {
		c.Log.Info("a reload waits until the old workers of the previous one have ended")
		return true
	}
	c.held.Store(false)
	ok, first := c.reloads.take(func() { c.queue.Force("reload-limit") })
	if first {
		c.Log.Info("a reload waits for --sync-rate-limit")
	}
	return !ok
}

// apply performs the steps to next. If nginx rejects them or must not be reloaded now, it still
// performs the steps that need no reload, so endpoints do not wait for a broken ingress.
func (c *controller) apply(ctx context.Context, steps []plan.Step, next plan.State) (apply.Report, error) {
	running, frozen := c.target.Running(), c.quarantine.Frozen()
	var report apply.Report
	err := frozen
	if frozen == nil {
		report, err = c.target.Do(ctx, steps)
	}
	rejected := errors.As(err, new(*apply.Rejection))
	if frozen == nil && !rejected || running.Conf.Len() == 0 {
		return report, err
	}
	rest, restErr := c.target.Do(ctx, plan.Diff(running, plan.Hold(running, next)))
	report.Posts = append(report.Posts, rest.Posts...)
	return report, errors.Join(err, restErr)
}

// logDiff logs the changes of nginx.conf at verbosity 2, like ingress-nginx.
func (c *controller) logDiff(running, next conf.Text) {
	if !c.Log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	c.Log.Debug("nginx.conf changes", "diff", string(diff.Diff("running", running.Bytes(), "next", next.Bytes())))
}

// oldWorkersGone is called when the last old worker of a reload has ended.
func (c *controller) oldWorkersGone(took time.Duration) {
	c.Log.Info("old workers gone", "took", took)
	c.Metrics.Phase(metrics.LastOldWorker, took)
	if c.held.Swap(false) {
		c.queue.Force("old-workers-gone")
	}
}

// sweep regularly removes files that interrupted tests left behind, until ctx is done.
func (c *controller) sweep(ctx context.Context) {
	tick := time.NewTicker(apply.SweepEvery)
	defer tick.Stop()
	for {
		select {
		case now := <-tick.C:
			if err := layout(c.Config).Sweep(now.Add(-apply.SweepEvery)); err != nil {
				c.Log.Warn("removing leftovers", "error", err.Error())
			}
		case <-ctx.Done():
			return
		}
	}
}
