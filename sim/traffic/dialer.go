package traffic

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"syscall"

	"windtunnel.dev/sim/event"
)

// dialer opens the connections of a lane. It logs each connection that it opened, and each that
// the server ended before the attack was over: the only trace of retries that a client hides.
type dialer struct {
	lane    string
	to      netip.AddrPort // of the attack
	tls     netip.AddrPort // likewise
	subject string
	events  *event.Log
	net     net.Dialer
	ended   atomic.Bool
}

func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := d.net.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	tcp, ok := c.(*net.TCPConn)
	if !ok {
		return c, nil // UDP has no connections
	}
	d.log(true)
	return &socket{TCPConn: tcp, dialer: d}, nil
}

// dialURL connects to the address in the URL of a target. The URL of a target over TLS has a host name
// instead; for it, dialURL connects to the attack's TLS address.
func (d *dialer) dialURL(ctx context.Context, network, address string) (net.Conn, error) {
	if _, err := netip.ParseAddrPort(address); err != nil {
		address = d.tls.String()
	}
	return d.dial(ctx, network, address)
}

// dialTo connects to the attack's address, whatever address is asked for.
func (d *dialer) dialTo(ctx context.Context, network, _ string) (net.Conn, error) {
	return d.dial(ctx, network, d.to.String())
}

// end stops the logging of ended connections: from now on we close them ourselves.
func (d *dialer) end() { d.ended.Store(true) }

func (d *dialer) log(opened bool) {
	d.events.Write(event.Event{At: d.events.Now(), Subject: d.subject, Socket: &event.Socket{Lane: d.lane, Opened: opened}})
}

// socket is a TCP connection that knows how it ended.
type socket struct {
	*net.TCPConn
	dialer *dialer
	over   atomic.Bool // the server ended it, by FIN or RST, and we have read that
	closed atomic.Bool // we closed it
}

func (s *socket) Read(b []byte) (int, error) {
	n, err := s.TCPConn.Read(b)
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		s.over.Store(true)
	}
	return n, err
}

func (s *socket) Close() error {
	if !s.closed.Swap(true) && s.over.Load() && !s.dialer.ended.Load() {
		s.dialer.log(false)
	}
	return s.TCPConn.Close()
}
