package simulated

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"windtunnel.dev/sim/driver"
)

// waitHealthy returns when the controller is healthy, when it has ended, when it cannot become
// healthy because nginx rejects its configuration, or when ctx is done.
func (i *Instance) waitHealthy(ctx context.Context, p *process) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		if i.Healthy(ctx) == nil {
			return nil
		}
		if err := p.refusal.final(); err != nil {
			return fmt.Errorf("subject %s does not become healthy: %w", i.Subject.Name, err)
		}
		select {
		case <-p.died:
			return p.err
		case <-ctx.Done():
			return fmt.Errorf("wait for subject %s to become healthy at %s: %w; its last log line: %s", i.Subject.Name, i.healthURL(), context.Cause(ctx), p.tail.Last())
		case <-ticker.C:
		}
	}
}

func (i *Instance) healthURL() string {
	return "http://127.0.0.1:" + i.ports["healthz-port"] + cmp.Or(i.Subject.Flags["health-check-path"], "/healthz")
}

// Healthy checks the health endpoint once.
func (i *Instance) Healthy(ctx context.Context) error { return driver.CheckHealth(ctx, i.healthURL()) }
