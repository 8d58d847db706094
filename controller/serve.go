package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"windtunnel.dev/controller/apply"
	"windtunnel.dev/controller/compile"
	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/snapshot"
)

// Reloading contains the durations of the parts of a reload.
type Reloading struct {
	Test        time.Duration // writing the files, and nginx -t
	FirstWorker time.Duration // from the signal until the first new worker serves
	// LastWorker is from the signal until all new workers serve; 0 if Lua does not report what
	// workers serve.
	LastWorker time.Duration
}

// Serve starts nginx with the configuration of a cluster. Quit ends it.
func (o *Offline) Serve(ctx context.Context, cluster snapshot.Snapshot) error {
	compiled, err := compile.Compile(cluster, o.input)
	if err != nil {
		return fmt.Errorf("rendering: %w", err)
	}
	_, err = o.target.Do(ctx, plan.Diff(plan.State{}, compiled.State))
	return err
}

// Reload reloads nginx with the same configuration, plus a comment that makes it differ.
func (o *Offline) Reload(ctx context.Context) (Reloading, error) {
	running := o.target.Running()
	if running.Conf.Len() == 0 {
		return Reloading{}, errors.New("nginx is not running")
	}
	next := running
	next.Conf = running.Conf.Append([]byte("#\n"))
	report, err := o.target.Do(ctx, plan.Diff(running, next))
	if err != nil {
		return Reloading{}, err
	}
	done := Reloading{Test: report.Phases.Test, FirstWorker: report.Phases.FirstWorker}
	started := time.Now()
	if err := o.target.AwaitWorkers(ctx); err != nil {
		if errors.Is(err, apply.ErrNoReports) {
			err = nil
		}
		return done, err
	}
	done.LastWorker = done.FirstWorker + time.Since(started)
	return done, nil
}

// Workers returns the PIDs of the workers that accept connections.
func (o *Offline) Workers() ([]int, error) {
	process := o.target.Process()
	if process == nil {
		return nil, errors.New("nginx is not running")
	}
	workers, err := nginx.Workers(process.PID())
	var all []int
	for _, w := range workers {
		if !w.Draining {
			all = append(all, w.PID)
		}
	}
	return all, err
}

// Quit ends nginx. It returns when none of its processes is left.
func (o *Offline) Quit(ctx context.Context) error { return o.target.Quit(ctx) }
