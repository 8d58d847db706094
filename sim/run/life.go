package run

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"windtunnel.dev/sim/event"
)

// How a controller's health is watched in scenarios that kill: as a kubelet does,
// but every second, where ingress-nginx's own manifests say every ten.
const (
	livenessPeriod    = time.Second
	livenessThreshold = 5 // failures in a row
)

// watchLife ends the run when the subject's controller ends by itself. Where the
// scenario kills it, or nginx under it, it is started again, as a kubelet would.
func (s *side) watchLife(ctx context.Context, mortal bool, abort context.CancelCauseFunc) {
	for {
		if mortal {
			s.awaitEnd(ctx)
		}
		select {
		case <-ctx.Done():
			return
		case <-s.instance.Died():
		}
		err := s.instance.Err()
		if mortal {
			if err = s.revive(ctx); err == nil {
				continue
			}
		}
		if ctx.Err() != nil {
			return
		}
		s.log.Write(event.Event{At: s.log.Now(), Subject: s.name, Trouble: &event.Trouble{
			What: "the controller ended by itself", Detail: err.Error(),
		}})
		abort(err)
		return
	}
}

// revive starts the controller again and sees what it serves then.
func (s *side) revive(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, readyPatience, fmt.Errorf("not within %v", readyPatience))
	defer cancel()
	began := time.Now()
	if err := s.instance.Revive(ctx); err != nil {
		return err
	}
	again := event.Start{Again: true, Healthy: time.Since(began)}
	again.Asked, again.Unserved = s.lookOnce(ctx)
	err := s.awaitServed(ctx)
	again.Served = time.Since(began)
	s.log.Write(event.Event{At: s.log.Now(), Subject: s.name, Start: &again}) // also of a start that came to nothing
	return err
}

// awaitEnd returns when the controller has ended. One that is not well for too long
// is asked to.
func (s *side) awaitEnd(ctx context.Context) {
	ticker := time.NewTicker(livenessPeriod)
	defer ticker.Stop()
	for failures := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-s.instance.Died():
			return
		case <-ticker.C:
		}
		if s.instance.Healthy(ctx) == nil {
			failures = 0
		} else if failures++; failures == livenessThreshold {
			if pid := s.instance.Controller(); pid > 0 { // 0, a controller not found, would be our own process group
				syscall.Kill(pid, syscall.SIGTERM) // it may have ended by now
			}
		}
	}
}
