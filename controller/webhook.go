package controller

import (
	"net"
	"net/http"

	"windtunnel.dev/controller/admission"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/controller/snapshot"
)

// Admission is the webhook that checks ingresses before they are stored.
type Admission struct {
	Listener    net.Listener // Run closes it
	Certificate *admission.Certificate
	OnlyNew     bool // render the new ingress alone
}

func (c *controller) webhook() *http.Server {
	checker := &admission.Checker{
		Cluster: func() snapshot.Snapshot { return c.store.Snapshot() },
		Options: func(cluster snapshot.Snapshot) options.Options {
			opts, _ := c.options(cluster) // its findings are told at each sync
			return opts
		},
		Input:           func() render.Input { return *c.input.Load() },
		Inspect:         c.store.Inspect,
		Serves:          c.store.Serves,
		DisableCatchAll: c.Watch.DisableCatchAll,
		OnlyNew:         c.Admission.OnlyNew,
	}
	return admission.Server(admission.Handler(checker.Check, c.Metrics.Admitted, c.Log), c.Admission.Certificate, c.Log)
}
