// Package health serves the controller's endpoints for the kubelet's probes and Prometheus. It
// stands between them and the checks and metrics of the controller. Its one rule: it only reads; a
// probe changes nothing.
package health

import (
	"context"
	"fmt"
	"net/http"
)

// Handler serves ingress-nginx's health paths and /metrics. path, by default /healthz, answers 200
// if check returns nil, and 500 with the error otherwise. /readyz, which ingress-nginx does not
// have, does the same. path/ping answers 200 as long as the process runs. Requests that nginx
// proxies to loopback are refused.
func Handler(path string, check func(context.Context) error, metrics http.Handler) http.Handler {
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, r *http.Request) {
		if err := check(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, "ok")
	}
	mux.HandleFunc(path, answer)
	mux.HandleFunc(path+"/nginx-ingress-controller", answer)
	if path != "/readyz" {
		mux.HandleFunc("/readyz", answer)
	}
	mux.HandleFunc(path+"/ping", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.Handle("/metrics", metrics)
	return inside(mux)
}
