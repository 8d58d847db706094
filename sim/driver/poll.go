package driver

import (
	"context"
	"time"
)

// Poll calls done at once and then at each interval, until it returns true or an error. If ctx ends
// before, Poll returns the cause.
func Poll(ctx context.Context, every time.Duration, done func() (bool, error)) error {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		if is, err := done(); is || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ticker.C:
		}
	}
}
