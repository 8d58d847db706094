package main

import (
	"context"
	"net/http"
	"os"

	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/load"
)

// serveEcho serves load.Echo.
func serveEcho(address string) error {
	kubeapi.DedicateProcess()
	return http.ListenAndServe(address, http.HandlerFunc(load.Echo)) //nolint:gosec // only the benchmark calls it
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
