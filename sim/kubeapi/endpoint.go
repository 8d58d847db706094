package kubeapi

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"syscall"
	"time"
)

// endpoint is one listening address and its HTTP server, which a restart replaces.
type endpoint struct {
	url      string
	address  string      // with the port in use
	tls      *tls.Config // nil: plain HTTP
	listener net.Listener
	server   *http.Server
	release  func() // releases the port, which stays bound while nothing listens on it
}

// serve starts a server on the listener.
func (e *endpoint) serve(server *http.Server) {
	e.server = server
	listener := e.listener
	if e.tls != nil {
		server.TLSConfig = e.tls.Clone() // net/http writes to it
		listener = tls.NewListener(listener, server.TLSConfig)
	}
	go server.Serve(listener) // returns when the listener is closed
}

// close stops listening; open connections go on.
func (e *endpoint) close() {
	e.listener.Close()
	if e.release != nil {
		e.release()
	}
}

// shutdown waits for the requests in flight, and aborts them if ctx is done first.
func (e *endpoint) shutdown(ctx context.Context) error {
	if e.server == nil {
		return nil
	}
	if err := e.server.Shutdown(ctx); err != nil && !errors.Is(err, net.ErrClosed) {
		e.server.Close()
		return fmt.Errorf("stopping %s: %w", e.url, err)
	}
	return nil
}

// reopen listens again on the address that close released.
func (e *endpoint) reopen() error {
	l, err := net.Listen("tcp", e.address)
	e.release()
	e.release = nil
	if err != nil {
		return fmt.Errorf("kubeapi: listening on %s again: %w", e.address, err)
	}
	e.listener = l
	return nil
}

// keepPort binds the port without listening: connections are refused, but no other socket of this
// machine gets the port.
func keepPort(address string) (release func(), err error) {
	addr, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	family, sockaddr := syscall.AF_INET, syscall.Sockaddr(nil)
	if ip := addr.IP.To4(); ip != nil {
		sockaddr = &syscall.SockaddrInet4{Port: addr.Port, Addr: [4]byte(ip)}
	} else {
		family, sockaddr = syscall.AF_INET6, &syscall.SockaddrInet6{Port: addr.Port, Addr: [16]byte(addr.IP.To16())}
	}
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	err = syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1)
	if err == nil {
		err = syscall.Bind(fd, sockaddr)
	}
	if err != nil {
		syscall.Close(fd)
		return nil, err
	}
	return func() { syscall.Close(fd) }, nil
}

// stopWithin is the maximum time that a clean stop waits for requests in flight.
const stopWithin = 5 * time.Second
