package controller

import (
	"context"
	"net/http"
	"sync"
	"time"

	"windtunnel.dev/controller/admission"
	"windtunnel.dev/controller/health"
	"windtunnel.dev/controller/status"
)

// beside runs what goes on beside the syncs, until ctx is done: the part in
// elections with the status of ingresses, the profiler and the webhook. The returned
// function waits for its end.
func (c *controller) beside(ctx context.Context) (wait func()) {
	var all sync.WaitGroup
	if c.Status != nil {
		all.Go(func() { status.Run(ctx, c.statusOptions()) })
	}
	if c.Profiler != nil {
		server := &http.Server{Handler: health.Profiler(), ReadHeaderTimeout: 5 * time.Second}
		all.Go(func() { server.Serve(c.Profiler) }) // ends with Close
		context.AfterFunc(ctx, func() { server.Close() })
	}
	if c.Admission != nil {
		server := c.webhook()
		all.Go(func() {
			if err := admission.Serve(server, c.Admission.Listener); err != nil {
				c.Log.Error(err.Error())
			}
		})
		context.AfterFunc(ctx, func() { server.Close() })
	}
	return all.Wait
}

func (c *controller) statusOptions() status.Options {
	o := *c.Status
	o.Client, o.Pod, o.Log = c.Client, c.Pod, c.Log
	o.Ingresses, o.Leader = c.store.Ingresses, c.Metrics.Leader
	return o
}
