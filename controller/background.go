package controller

import (
	"context"
	"net/http"
	"sync"
	"time"

	"windtunnel.dev/controller/admission"
	"windtunnel.dev/controller/health"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/controller/status"
)

// startBackground starts everything that runs in parallel with the syncs, until ctx is done: leader
// election and the status of ingresses, the profiler and the webhook. The returned function waits
// until all of them have stopped.
func (c *controller) startBackground(ctx context.Context) (wait func()) {
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

func (c *controller) webhook() *http.Server {
	reviewer := &admission.Reviewer{
		Cluster:         func() snapshot.Snapshot { return c.store.Snapshot() },
		Input:           c.input.now,
		Inspect:         c.store.Inspect,
		Serves:          c.store.Serves,
		DisableCatchAll: c.Watch.DisableCatchAll,
		OnlyNew:         c.Admission.OnlyNew,
	}
	return admission.Server(admission.Handler(reviewer.Review, c.Metrics.Admitted, c.Log), c.Admission.Certificate, c.Log)
}
