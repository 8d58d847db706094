package kubeapi

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// listenLoopback listens on address, which must be a loopback one: whoever
// reaches the server may do anything to it.
func listenLoopback(address string) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("kubeapi: listen address %q: %w; write host:port, for example 127.0.0.1:0", address, err)
	}
	if !loopback(host) {
		return nil, fmt.Errorf("kubeapi: will not listen on %s: the simulated API server has no authentication and serves loopback only; use 127.0.0.1:%s", address, port)
	}
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("kubeapi: %s is in use by another process; choose another port, or port 0 for a free one: %w", address, err)
	}
	if err != nil {
		return nil, fmt.Errorf("kubeapi: listening on %s: %w", address, err)
	}
	return l, nil
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
