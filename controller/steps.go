package controller

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/metrics"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/plan"
)

// steps lead from what runs to next. With enable-serial-reloads a reload is
// held back while workers of the one before are left; what takes none is done.
func (c *controller) steps(next plan.State, opts options.Options) (steps []plan.Step, held bool) {
	running := c.target.Running()
	steps = plan.Diff(running, next)
	if len(steps) == 0 || steps[0].Kind != plan.Reload {
		return steps, false
	}
	c.logDiff(running.Conf, next.Conf)
	// Set before the look, so that workers that end meanwhile are noticed.
	c.held.Store(opts.Config.EnableSerialReloads)
	if opts.Config.EnableSerialReloads && c.target.Draining() {
		c.Log.Info("a reload waits for the workers of the one before")
		held, err := plan.Hold(running, next)
		if err != nil {
			c.Log.Error("steps without a reload wait as well", "error", err.Error())
			return nil, true
		}
		return plan.Diff(running, held), true
	}
	c.held.Store(false)
	return steps, false
}

// do performs the steps to next. If nginx refuses it, or must not be reloaded now, the
// steps without a reload are still performed: endpoints do not wait for a broken
// ingress.
func (c *controller) do(ctx context.Context, steps []plan.Step, next plan.State) (apply.Report, error) {
	running := c.target.Running()
	report, err := apply.Report{}, c.withheld.Frozen()
	if err == nil {
		report, err = c.target.Do(ctx, steps)
	}
	refusal := new(apply.Refusal)
	if (c.withheld.Frozen() != nil || errors.As(err, &refusal)) && len(running.Conf) > 0 {
		rest, holdErr := plan.Hold(running, next)
		if holdErr == nil {
			var done apply.Report
			done, holdErr = c.target.Do(ctx, plan.Diff(running, rest))
			report.Posts = append(report.Posts, done.Posts...)
		}
		err = errors.Join(err, holdErr)
	}
	return report, err
}

// logDiff logs what is new in nginx.conf, at verbosity 2 as ingress-nginx does.
func (c *controller) logDiff(running, next []byte) {
	if len(running) == 0 || !c.Log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	c.Log.Debug("nginx.conf changes", "diff", string(diff.Diff("running", running, "next", next)))
}

// oldWorkersGone is called when the last worker has ended that a reload
// retired.
func (c *controller) oldWorkersGone(took time.Duration) {
	c.Log.Info("old workers gone", "took", took)
	c.Metrics.Phase(metrics.LastOldWorker, took)
	if c.held.Swap(false) {
		c.queue.Force("old-workers-gone")
	}
}

// sweep removes what interrupted tests leave behind, again and again until ctx
// is done.
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
