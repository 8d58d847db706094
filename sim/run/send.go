package run

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/traffic"
)

// generators returns the generators of the subject's requests; nil: this process sends them.
func (r *rig) generators() driver.Generators {
	if distant, ok := r.instance.(driver.Distant); ok {
		return distant.Generators()
	}
	return nil
}

// send begins to send the requests of a round, until ctx ends. It calls begin when the first gap
// between requests begins, and fail if an attack cannot be carried out. When ctx has ended, end
// waits for the requests under way. It returns why requests could not be sent, or why their events
// are missing.
func (r *rig) send(ctx context.Context, orders []traffic.Order, begin, fail func()) (end func() error, err error) {
	if distant := r.generators(); distant != nil {
		start, err := distant.Begin(ctx, orders)
		if err != nil {
			return nil, fmt.Errorf("subject %s: start its traffic: %w", r.name, err)
		}
		end = func() error { return distant.End(context.WithoutCancel(ctx)) }
		if err := waitUntil(ctx, time.Now().Add(start-r.log.Now())); err != nil {
			return nil, errors.Join(err, end())
		}
		begin()
		return end, nil
	}
	begin()
	var running sync.WaitGroup
	failures := make(chan error, len(orders))
	for _, one := range orders {
		running.Go(func() {
			if err := one.Run(ctx); err != nil {
				failures <- fmt.Errorf("subject %s, lane %s: %w", r.name, one.Lane, err)
				fail()
			}
		})
	}
	return func() (err error) {
		running.Wait()
		close(failures)
		for failure := range failures {
			err = errors.Join(err, failure)
		}
		return err
	}, nil
}
