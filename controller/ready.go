package controller

import (
	"context"
	"errors"
	"time"

	"windtunnel.dev/controller/apply"
)

// luaPoll is the interval at which each worker's Lua polls for new configuration.
const luaPoll = time.Second

// becomeReady marks the controller as ready when every worker serves the result of the first sync.
// That sync saw all objects that existed at the start, because the store was complete by then.
func (c *controller) becomeReady(ctx context.Context) {
	err := c.target.AwaitWorkers(ctx)
	if errors.Is(err, apply.ErrNoReports) || err == nil && c.Options.DynamicStream() {
		// Workers do not report the result (for TCP and UDP never). After one poll all workers
		// serve it.
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

// healthy returns an error if the controller is not healthy and ready. As in ingress-nginx, health
// and readiness are the same.
func (c *controller) healthy(ctx context.Context) error {
	if c.stopping.Load() {
		return errors.New("the controller is shutting down")
	}
	if err := c.target.Healthy(ctx); err != nil {
		return err
	}
	if !c.ready.Load() {
		return errors.New("not every worker of nginx has the initial configuration yet")
	}
	return nil
}
