package kubeapi

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
)

// listenOn listens on address. An address beyond loopback needs TLS and a token that the operator
// chose, because a client may do everything.
func listenOn(address string, guarded bool) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("kubeapi: listen address %q: %w; write host:port, for example 127.0.0.1:0", address, err)
	}
	if !loopback(host) && !guarded {
		return nil, fmt.Errorf("kubeapi: will not listen on %s: beyond loopback the simulated API server serves HTTPS only, with authentication and a token of your choice; use 127.0.0.1:%s", address, port)
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

// reachable returns an address of the listener that a client on this machine can dial.
func reachable(l net.Listener) string {
	addr := l.Addr().(*net.TCPAddr)
	if addr.IP.IsUnspecified() {
		return net.JoinHostPort("127.0.0.1", fmt.Sprint(addr.Port))
	}
	return addr.String()
}

// addressesOf returns the addresses beyond loopback that a certificate for the listener must
// contain.
func addressesOf(l net.Listener) []net.IP {
	ip := l.Addr().(*net.TCPAddr).IP
	if !ip.IsUnspecified() {
		return []net.IP{ip}
	}
	var ips []net.IP
	all, _ := net.InterfaceAddrs() // on an error only the loopback names remain
	for _, addr := range all {
		if n, ok := addr.(*net.IPNet); ok {
			ips = append(ips, n.IP)
		}
	}
	return ips
}
