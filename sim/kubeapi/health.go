package kubeapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// healthChecks lists the checks of each health path, in the order of kube-apiserver. All of them
// succeed as long as the server answers; log and etcd stand for this process and its memory.
var healthChecks = map[string][]string{
	"healthz": {"ping", "log", "etcd"},
	"livez":   {"ping", "log", "etcd"},
	"readyz":  {"ping", "log", "etcd", "etcd-readiness", "informer-sync", "shutdown"},
}

// serveHealth answers a health path, or the path of one of its checks: with ok, or, if the client
// asks for verbose, with a line for each check.
func (s *Server) serveHealth(w http.ResponseWriter, req *http.Request) {
	path, one, single := strings.Cut(strings.Trim(req.URL.Path, "/"), "/")
	checks := healthChecks[path]
	if single && !slices.Contains(checks, one) {
		http.NotFound(w, req)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", noCache)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if _, verbose := req.URL.Query()["verbose"]; !verbose || single {
		w.Write([]byte("ok"))
		return
	}
	excluded := req.URL.Query()["exclude"]
	for _, check := range checks {
		if slices.Contains(excluded, check) {
			fmt.Fprintf(w, "[+]%s excluded: ok\n", check)
		} else {
			fmt.Fprintf(w, "[+]%s ok\n", check)
		}
	}
	for _, name := range excluded {
		if !slices.Contains(checks, name) {
			fmt.Fprintf(w, "warn: some health checks cannot be excluded: no matches for %q\n", name)
		}
	}
	fmt.Fprintf(w, "%s check passed\n", path)
}
