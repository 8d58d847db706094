package controller

import (
	"context"
	"errors"
	"time"

	"windtunnel.dev/controller/apply"
)

// luaPoll is how often each worker's Lua looks for what it was sent.
const luaPoll = time.Second

// becomeReady makes the controller ready when every worker serves what the
// first sync brought. It has all objects that existed at the start, because
// the store was complete by then.
func (c *controller) becomeReady(ctx context.Context) {
	err := c.target.AwaitServing(ctx)
	if errors.Is(err, apply.ErrNotTold) || err == nil && c.Options.DynamicStream() {
		// Nobody tells, as for TCP and UDP: after one more look all have it.
		pause(ctx, luaPoll)
		err = ctx.Err()
	}
	switch {
	case err == nil:
		c.ready.Store(true)
		c.Log.Info("ready")
	case ctx.Err() == nil:
		c.Log.Error("not ready", "error", err.Error())
	}
}

// check says what keeps the controller from being healthy and ready; here they
// are one, as in ingress-nginx.
func (c *controller) check(ctx context.Context) error {
	if c.stopping.Load() {
		return errors.New("the controller is shutting down")
	}
	if err := c.target.Check(ctx); err != nil {
		return err
	}
	if !c.ready.Load() {
		return errors.New("the configuration of the start is not in every worker of nginx yet")
	}
	return nil
}
