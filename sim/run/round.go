package run

import (
	"context"
	"errors"
	"fmt"
	"time"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/step"
	"windtunnel.dev/sim/traffic"
)

// errNoTraffic ends a round early; the end of its traffic says why.
var errNoTraffic = errors.New("a lane cannot send")

// round is one turn of a subject: its share of the timeline under traffic, and then the wait
// until every worker serves the last change, or until the scenario's patience ends.
func (r *rig) round(ctx context.Context, o Options, number int, length time.Duration, tasks []step.Task) error {
	acting, stopActing := context.WithCancelCause(ctx)
	defer stopActing(nil)
	converge, err := r.observer.Converge(acting)
	if err != nil {
		return fmt.Errorf("subject %s: observe a round: %w", r.name, err)
	}
	r.cluster.Watch = converge.Watch
	collectRarely()

	r.observer.Sample()
	endTraffic, err := r.send(acting, r.orders(o, number), func() { r.phase(event.RoundBegin, number) }, func() { stopActing(errNoTraffic) })
	if err != nil {
		return err
	}
	err = r.play(acting, length, tasks)
	if err == nil {
		r.phase(event.ChurnEnd, number)
		awaitConvergence(acting, converge, o.Scenario.Settle)
	}
	effort := converge.Effort()
	r.log.Write(event.Event{At: r.log.Now(), Subject: r.name, Probe: &effort})
	r.phase(event.RoundEnd, number)
	r.observer.Sample()
	stopActing(nil)
	r.cluster.Heal()
	if errors.Is(context.Cause(acting), errNoTraffic) {
		err = nil
	}
	err = errors.Join(err, endTraffic())
	<-converge.Done()
	err = errors.Join(err, r.observer.Gather(context.WithoutCancel(ctx)))
	if cut := context.Cause(ctx); cut != nil {
		return cut
	}
	return err
}

// orders returns the traffic of a round with its seeds and arrivals.
func (r *rig) orders(o Options, round int) []traffic.Order {
	var all []traffic.Order
	for i, attack := range r.attacks(o) {
		attack.Seed = o.Seed + uint64(round)<<32 + uint64(i)
		all = append(all, traffic.Order{Attack: attack, Arrivals: arrivals(o.Scenario.Traffic[i])})
	}
	return all
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
func awaitConvergence(ctx context.Context, converge driver.Convergence, patience time.Duration) {
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
