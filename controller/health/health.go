// Package health answers those who watch over the controller: the kubelet's
// probes and Prometheus. It stands between them and what knows. Its one rule:
// it only asks; a probe changes nothing.
package health

import (
	"context"
	"fmt"
	"net/http"
)

// Handler serves ingress-nginx's health paths and /metrics. Path, by default
// /healthz, answers 200 while check finds nothing wrong, else 500 with what it
// found; so does /readyz, which ingress-nginx has not. Path/ping answers as
// long as the process does. What nginx passes on to it on loopback is refused.
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
