// Package health serves the controller's endpoints for the kubelet's probes and Prometheus. It
// stands between them and the checks and metrics of the controller. Its one rule: it only reads; a
// probe changes nothing.
package health

import (
	"context"
	"net/http"
)

// Handler serves ingress-nginx's health paths and /metrics. path, by default /healthz, answers 200
// if healthy returns nil, and 500 with the error otherwise. It accepts the parameters verbose and
// exclude, as Kubernetes' health endpoints do. Its two checks have their own paths: path/ping,
// which succeeds as long as the process runs, and path/nginx-ingress-controller. /readyz, which
// ingress-nginx does not have, is an alias of path. Requests that nginx proxies to loopback are
// refused.
func Handler(path string, healthy func(context.Context) error, metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	all := checks{
		{"ping", func(context.Context) error { return nil }},
		{"nginx-ingress-controller", healthy},
	}
	all.add(mux, path)
	if path != "/readyz" {
		mux.HandleFunc("/readyz", all.answer)
	}
	mux.Handle("/metrics", metrics)
	return inside(mux)
}
