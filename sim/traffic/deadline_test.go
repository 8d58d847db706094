package traffic

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A deadline behaves like a context of context.WithDeadline, whether the caller uses Done or Err.
func TestDeadline(t *testing.T) {
	for name, wait := range map[string]bool{"asked": false, "waited for": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parent, end := context.WithCancelCause(t.Context())
				d := withDeadline(parent, time.Now().Add(time.Second))
				defer d.cancel()
				if wait {
					d.Done()
				}
				child, stop := context.WithCancel(d)
				defer stop()
				if d.Err() != nil || child.Err() != nil {
					t.Errorf("at once: %v", d.Err())
				}
				time.Sleep(time.Second)
				<-child.Done()
				if !errors.Is(d.Err(), context.DeadlineExceeded) || !errors.Is(context.Cause(d), context.DeadlineExceeded) {
					t.Errorf("at its time: %v, %v", d.Err(), context.Cause(d))
				}

				d = withDeadline(parent, time.Now().Add(time.Second))
				defer d.cancel()
				if wait {
					d.Done()
				}
				end(errEnded)
				if !errors.Is(d.Err(), context.Canceled) || !errors.Is(context.Cause(d), errEnded) {
					t.Errorf("after the end of its parent: %v, %v", d.Err(), context.Cause(d))
				}
			})
		})
	}
}
