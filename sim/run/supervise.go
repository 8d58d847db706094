package run

import (
	"context"
	"syscall"
	"time"

	"windtunnel.dev/sim/event"
)

// In scenarios that kill, the controller's health is checked as a kubelet does, but every second;
// ingress-nginx's own manifests specify ten seconds.
const (
	livenessPeriod    = time.Second
	livenessThreshold = 5 // failures in a row
)

// superviseController ends the run when the subject's controller ends by itself. If the scenario
// kills the controller, or nginx, the controller is started again, as a kubelet does.
func (r *rig) superviseController(ctx context.Context, restart bool, abort context.CancelCauseFunc) {
	for {
		if restart {
			r.awaitEnd(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-r.instance.Died():
		}
		err := r.instance.Err()
		if restart {
			if err = r.revive(ctx); err == nil {
				continue
			}
		}
		if ctx.Err() != nil {
			return
		}
		r.log.Trouble(r.name, "the controller exited unexpectedly", err.Error())
		abort(err)
		return
	}
}

// revive starts the controller again and logs what it serves then.
func (r *rig) revive(ctx context.Context) error {
	ctx, cancel := r.withReadyPatience(ctx)
	defer cancel()
	began := time.Now()
	if err := r.instance.Revive(ctx); err != nil {
		return err
	}
	again := event.Start{Again: true, Healthy: time.Since(began)}
	again.Asked, again.Unserved = r.countUnserved(ctx)
	err := r.awaitServed(ctx, steadyPasses)
	again.Served = time.Since(began)
	r.log.Write(event.Event{At: r.log.Now(), Subject: r.name, Start: &again}) // even if the start failed
	return err
}

// awaitEnd returns when the controller has ended. A controller that is unhealthy for too long
// is asked to end.
func (r *rig) awaitEnd(ctx context.Context) {
	ticker := time.NewTicker(livenessPeriod)
	defer ticker.Stop()
	for failures := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-r.instance.Died():
			return
		case <-ticker.C:
		}
		if r.instance.Healthy(ctx) == nil {
			failures = 0
		} else if failures++; failures == livenessThreshold {
			if pid := r.instance.Controller(); pid > 0 {
				_ = r.instance.Signal(pid, syscall.SIGTERM) // it may have ended by now
			}
		}
	}
}
