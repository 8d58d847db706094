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

// dialer opens the connections of a lane and logs each that it opened, and
// each that the server ended before the attack was over: the only trace that a
// client leaves which hides its retries.
type dialer struct {
	lane    string
	to      netip.AddrPort // of the attack
	subject string
	log     *event.Log
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
		return c, nil // UDP connects to nobody
	}
	d.note(true)
	return &socket{TCPConn: tcp, dialer: d}, nil
}

// dialTo goes to the attack's address, whatever the name that is asked for.
func (d *dialer) dialTo(ctx context.Context, network, _ string) (net.Conn, error) {
	return d.dial(ctx, network, d.to.String())
}

// end makes what is closed from now on our own doing.
func (d *dialer) end() { d.ended.Store(true) }

func (d *dialer) note(opened bool) {
	d.log.Write(event.Event{At: d.log.Now(), Subject: d.subject, Socket: &event.Socket{Lane: d.lane, Opened: opened}})
}

// socket is a connection that notes its end.
type socket struct {
	*net.TCPConn
	dialer *dialer
	over   atomic.Bool // the server has ended it, by FIN or RST, and we have read so far
	closed atomic.Bool // we have closed it
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
		s.dialer.note(false)
	}
	return s.TCPConn.Close()
}
