package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/probe"
	"windtunnel.dev/sim/step"
	"windtunnel.dev/sim/traffic"
)

// round is one turn of a subject: its share of the timeline under traffic, and then the wait
// until every worker serves the last change, or until the scenario's patience ends.
func (r *rig) round(ctx context.Context, o Options, number int, length time.Duration, tasks []step.Task) error {
	acting, stopActing := context.WithCancel(ctx)
	defer stopActing()
	converge := probe.StartConvergence(acting, r.log, r.workers, probe.ConvergenceOptions{Address: r.instance.Address().String(), TLS: r.instance.TLS().String()})
	r.cluster.Watch = converge.Watch

	r.usage.Sample()
	r.phase(event.RoundBegin, number)
	var running sync.WaitGroup
	failures := make(chan error, len(o.Scenario.Traffic))
	for i, attack := range r.attacks(o) {
		attack.Seed = o.Seed + uint64(number)<<32 + uint64(i)
		attack.Rate = arrivals(o.Scenario.Traffic[i]).Pacer(attack.Seed)
		running.Go(func() {
			if err := traffic.Run(acting, attack); err != nil {
				failures <- fmt.Errorf("subject %s, lane %s: %w", r.name, attack.Lane, err)
				stopActing()
			}
		})
	}

	err := r.play(acting, length, tasks)
	if err == nil {
		r.phase(event.ChurnEnd, number)
		awaitConvergence(acting, converge, o.Scenario.Settle)
	}
	effort := converge.Effort()
	r.log.Write(event.Event{At: r.log.Now(), Subject: r.name, Probe: &effort})
	r.phase(event.RoundEnd, number)
	r.usage.Sample()
	stopActing()
	r.cluster.Heal()
	running.Wait()
	<-converge.Done()
	close(failures)
	for failure := range failures {
		err = errors.Join(err, failure)
	}
	if cut := context.Cause(ctx); cut != nil {
		return cut
	}
	return err
}

// play does each task at its time and returns after length.
func (r *rig) play(ctx context.Context, length time.Duration, tasks []step.Task) error {
	begin := time.Now()
	for _, task := range tasks {
		if err := waitUntil(ctx, begin.Add(task.At)); err != nil {
			return err
		}
		if err := task.Do(ctx, r.cluster); err != nil {
			return fmt.Errorf("subject %s: %w", r.name, err)
		}
	}
	return waitUntil(ctx, begin.Add(length))
}

// awaitConvergence waits until every worker serves every change, at most for patience. A
// change that is not served by then is a result, not an error: the log shows which one.
func awaitConvergence(ctx context.Context, converge *probe.Convergence, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	converge.Await(ctx)
}

func waitUntil(ctx context.Context, t time.Time) error {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
