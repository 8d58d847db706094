package simulated

import (
	"context"
	"fmt"
	"time"

	"windtunnel.dev/sim/driver"
)

const (
	healthEvery   = 50 * time.Millisecond
	errorLogEvery = time.Second
	// errorLog is nginx's error log by default.
	errorLog = "var/log/nginx/error.log"
)

// waitHealthy returns when the controller is healthy, when it has ended, when it cannot become
// healthy because nginx rejects its configuration or its workers do not start, or when ctx is done.
func (i *Instance) waitHealthy(ctx context.Context, p *process) error {
	ticker, logTicker := time.NewTicker(healthEvery), time.NewTicker(errorLogEvery)
	defer ticker.Stop()
	defer logTicker.Stop()
	for {
		err := i.Healthy(ctx)
		if err == nil {
			return nil
		}
		if err := p.refusal.final(); err != nil {
			return fmt.Errorf("subject %s does not become healthy: %w", i.Subject.Name, err)
		}
		select {
		case <-p.died:
			return p.err
		case <-ctx.Done():
			return fmt.Errorf("wait for subject %s to become healthy (%w): %w; its last log line: %s", i.Subject.Name, err, context.Cause(ctx), p.tail.Last())
		case <-logTicker.C:
			if log, err := i.runtime.Read(ctx, errorLog); err == nil { // otherwise the controller prints it, or has none
				p.refusal.read(log)
			}
		case <-ticker.C:
		}
	}
}

// Healthy makes each of the adapter's health checks once.
func (i *Instance) Healthy(ctx context.Context) error {
	for _, check := range i.setup.Health {
		if err := driver.Check(ctx, check); err != nil {
			return err
		}
	}
	return nil
}
