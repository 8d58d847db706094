package main

import (
	"context"
	"io"
	"net/http"
	"os"

	"windtunnel.dev/sim/kubeapi"
)

// serveEcho answers every request with its body, and does nothing else: no server that uses net/http
// can be faster.
func serveEcho(address string) error {
	kubeapi.DedicateProcess()
	return http.ListenAndServe(address, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // only the benchmark calls it
		body := make([]byte, max(r.ContentLength, 0))
		if _, err := io.ReadFull(r.Body, body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", r.Header.Get("Content-Type"))
		w.Write(body) //nolint:errcheck // the client has gone
	}))
}

// startEcho starts serveEcho in its own process.
func startEcho(ctx context.Context, dir string) (*server, func(), error) {
	ports, err := freePorts(1)
	if err != nil {
		return nil, nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	address := "127.0.0.1:" + ports[0]
	p, err := launch(dir, self, "-echo="+address)
	if err != nil {
		return nil, nil, err
	}
	s := &server{name: "net/http that echoes", url: "http://" + address, client: &http.Client{}, programs: []*program{p}, stateless: true}
	if err := s.waitReady(ctx, ""); err != nil {
		p.stop()
		return nil, nil, err
	}
	return s, p.stop, nil
}
