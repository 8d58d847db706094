package simulated

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// waitHealthy returns when the controller calls itself healthy, has ended, or
// ctx is done.
func (i *Instance) waitHealthy(ctx context.Context, l *life) error {
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		if i.Healthy(ctx) == nil {
			return nil
		}
		select {
		case <-l.died:
			return l.err
		case <-ctx.Done():
			return fmt.Errorf("waiting for subject %s to become healthy at %s: %w; its last words: %s", i.Subject.Name, i.healthURL(), context.Cause(ctx), l.tail.Last())
		case <-ticker.C:
		}
	}
}

func (i *Instance) healthURL() string {
	return "http://127.0.0.1:" + i.ports["healthz-port"] + "/healthz"
}

// Healthy asks once, and waits a second at most.
func (i *Instance) Healthy(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, i.healthURL(), nil)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", i.healthURL(), response.Status)
	}
	return nil
}
