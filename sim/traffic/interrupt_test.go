package traffic

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/sync/errgroup"

	"windtunnel.dev/attack"
	"windtunnel.dev/sim/event"
)

// Wherever the harness ends an exchange, no lane blames the subject: neither at the end of the run
// nor when a request times out, whether the peer continues or is silent, and whatever the text of
// the library's error is.
func TestEndByTheHarnessIsNotAFailure(t *testing.T) {
	points := attack.Times(40, 400)
	for i, name := range Lanes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := pod(t, netip.PrefixFrom(netip.AddrFrom4([4]byte{127, 210, byte(i), 0}), 24).String(), "demo/web-1", "demo/web")
			to := entrance(t, name, p)
			whole := newStrait(t, name, to, 1<<40, false, func() {})
			if r := newClient(t, name, whole.address).fire(); r.Cause != "" {
				t.Fatalf("before the exchange is ended: %s: %s", r.Cause, r.Detail)
			}
			var seen counts
			var tries errgroup.Group
			tries.SetLimit(32)
			for n := range points {
				at := whole.passed.Load() * int64(n) / int64(points)
				for _, end := range ends {
					tries.Go(func() error {
						c := newClient(t, name, netip.AddrPort{})
						c.recorder.attack.Timeout = end.timeout
						s := newStrait(t, name, to, at, end.silent, func() {
							if end.cancels {
								c.cancel(errEnded)
							}
						})
						defer s.close()
						c.aim(s.address)
						r := c.fire()
						seen.add(r.Cause)
						if r.Cause != end.want && r.Cause != "" {
							t.Errorf("%s after %d bytes: cause %q (%s), want %q", end.what, at, r.Cause, r.Detail, end.want)
						}
						return nil
					})
				}
			}
			tries.Wait()
			for _, end := range ends {
				if seen.of(end.want) < points/2 { // a peer that continues may still answer
					t.Errorf("%s had no effect at most points: %v", end.what, seen.n)
				}
			}
		})
	}
}

// ends are the ways in which the harness ends an exchange.
var ends = []struct {
	what            string
	cancels, silent bool
	timeout         time.Duration
	want            event.Cause
}{
	{what: "the end of the run", cancels: true, timeout: 10 * time.Second, want: event.OurCancel},
	{what: "the end of the run, the peer silent,", cancels: true, silent: true, timeout: 10 * time.Second, want: event.OurCancel},
	{what: "the end of the request's time", silent: true, timeout: 100 * time.Millisecond, want: event.Timeout},
}

// strait is a proxy between a lane and its peer. When limit bytes have passed, it calls reached,
// and then continues or is silent.
type strait struct {
	address netip.AddrPort
	passed  atomic.Int64

	limit   int64
	whole   bool // datagrams pass whole or not at all
	silent  bool
	reached func()
	mu      sync.Mutex // no byte overtakes reached
	open    []interface{ Close() error }
}

func newStrait(t *testing.T, lane string, to netip.AddrPort, limit int64, silent bool, reached func()) *strait {
	s := &strait{limit: limit, whole: ListenerOf(lane) == UDP, silent: silent, reached: sync.OnceFunc(reached)}
	if s.whole {
		s.listenPacket(t, to)
	} else {
		s.listen(t, to)
	}
	return s
}

func (s *strait) listen(t *testing.T, to netip.AddrPort) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Error(err)
		return
	}
	s.address = netip.MustParseAddrPort(l.Addr().String())
	s.keep(l)
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp4", to.String())
			if err != nil {
				near.Close()
				continue
			}
			s.keep(near)
			s.keep(far)
			go s.pump(far.Write, near)
			go s.pump(near.Write, far)
		}
	}()
}

// listenPacket serves one client: a lane sends each datagram from a new socket.
func (s *strait) listenPacket(t *testing.T, to netip.AddrPort) {
	near, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Error(err)
		return
	}
	far, err := net.Dial("udp4", to.String())
	if err != nil {
		t.Error(err)
		return
	}
	s.address = near.LocalAddr().(*net.UDPAddr).AddrPort()
	s.keep(near)
	s.keep(far)
	go func() {
		buffer := make([]byte, 1<<16)
		n, client, err := near.ReadFromUDPAddrPort(buffer)
		if err != nil {
			return
		}
		go s.pump(func(b []byte) (int, error) { return near.WriteToUDPAddrPort(b, client) }, far)
		s.pass(buffer[:n], far.Write)
	}()
}

func (s *strait) keep(c interface{ Close() error }) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, c)
}

func (s *strait) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.open {
		c.Close()
	}
}

// pump forwards what one side sends until it ends.
func (s *strait) pump(write func([]byte) (int, error), from net.Conn) {
	buffer := make([]byte, 1<<16)
	for {
		n, err := from.Read(buffer)
		if err != nil || !s.pass(buffer[:n], write) {
			return
		}
	}
}

// pass writes the bytes that may still pass, and returns whether more may follow.
func (s *strait) pass(b []byte, write func([]byte) (int, error)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := min(int64(len(b)), max(s.limit-s.passed.Load(), 0))
	s.passed.Add(int64(len(b)))
	if s.whole && before < int64(len(b)) {
		before = 0
	}
	if before > 0 {
		write(b[:before])
	}
	if before == int64(len(b)) {
		return true
	}
	s.reached()
	if s.silent {
		return false
	}
	_, err := write(b[before:])
	return err == nil
}

// counts is how often each cause came.
type counts struct {
	mu sync.Mutex
	n  map[event.Cause]int
}

func (c *counts) add(cause event.Cause) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n == nil {
		c.n = map[event.Cause]int{}
	}
	c.n[cause]++
}

func (c *counts) of(cause event.Cause) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n[cause]
}

// An unknown error is classified as unknown: one of a library, and one of a connection that we
// closed for an unknown reason.
func TestUnknownErrors(t *testing.T) {
	for name, err := range map[string]error{
		"new":              errors.New("net/http: an unknown error"),
		"closed by us":     &net.OpError{Op: "read", Net: "tcp", Err: net.ErrClosed},
		"cancelled by us":  context.Canceled,
		"of the transport": errors.New("http: putIdleConn: connection is in bad state"),
		"of a call":        syscall.EINVAL,
		"a stream of ours": http2.StreamError{StreamID: 1, Code: http2.ErrCodeCancel},
	} {
		for _, o := range []outcome{{}, {idled: true, reused: true}, {began: true}, {began: true, stream: true}, {stream: true}, {handshake: err}} {
			o.err = fmt.Errorf("failed to read: %w", err)
			if cause, detail := classify(o); cause != event.Unknown || detail == "" {
				t.Errorf("%s (%+v): cause %q (%s)", name, o, cause, detail)
			}
		}
	}
}
