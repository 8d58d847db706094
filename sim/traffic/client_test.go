package traffic

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"windtunnel.dev/internal/port"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/event"
)

// server is a peer that runs a script for each connection.
type server struct {
	address netip.AddrPort
}

// serve starts a server that runs each script for one connection, in the order in which they come.
func serve(t testing.TB, scripts ...func(*peer)) server {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for _, script := range scripts {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				script(&peer{TCPConn: c.(*net.TCPConn), reader: bufio.NewReader(c)})
			}()
		}
	}()
	return server{l.Addr().(*net.TCPAddr).AddrPort()}
}

// peer is the server's side of one connection.
type peer struct {
	*net.TCPConn
	reader *bufio.Reader
}

// read reads a whole request and returns the checksum of its body.
func (p *peer) read() string {
	r, err := http.ReadRequest(p.reader)
	if err != nil {
		return ""
	}
	body, _ := io.ReadAll(r.Body)
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// answer returns a pod's complete and correct answer.
func answer(status int, pod, service, sum string) string {
	body := fmt.Sprintf(`{"pod":%q,"service":%q,"state":"ready","body":%q}`, pod, service, sum)
	return fmt.Sprintf("HTTP/1.1 %d Status\r\nX-Windtunnel-Pod: %s\r\nX-Windtunnel-Service: %s\r\nX-Windtunnel-State: ready\r\n"+
		"X-Windtunnel-Body: %s\r\nContent-Length: %d\r\n\r\n%s", status, pod, service, sum, len(body), body)
}

func (p *peer) ok() { io.WriteString(p, answer(200, "demo/web-1", "demo/web", p.read())) }

// reset makes closing send an RST.
func (p *peer) reset() {
	p.SetLinger(0)
	p.Close()
}

// untilClosed waits until the client closes the connection.
func (p *peer) untilClosed() { io.Copy(io.Discard, p.reader) }

// client is a lane's client with which a test sends shot by shot.
type client struct {
	t         testing.TB
	recorder  *recorder
	transport transport // nil: the lane does not speak HTTP
	dialer    *dialer
	log       *events
	cancel    context.CancelCauseFunc
	path      string // of the request
}

func newClient(t testing.TB, laneName string, to netip.AddrPort) *client {
	t.Helper()
	l, ok := find(laneName)
	if !ok {
		t.Fatalf("the lane %s does not exist", laneName)
	}
	log := newEvents()
	inFlight, cancel := context.WithCancelCause(t.Context())
	attack := Attack{Lane: laneName, To: to, Timeout: 10 * time.Second, MaxInFlight: 10, Log: log.Log, Last: 300 * time.Millisecond, Bytes: 100_000}
	c := &client{
		t: t, log: log, cancel: cancel,
		dialer:   &dialer{lane: laneName, events: log.Log, to: to},
		recorder: &recorder{attack: attack, lane: l, inFlight: inFlight},
	}
	if l.http != nil {
		c.transport = l.http.transport(c.dialer, attack)
		t.Cleanup(c.transport.CloseIdleConnections)
		interruptAfter(inFlight, c.transport)
	}
	return c
}

// aim makes the client connect to another address from now on.
func (c *client) aim(to netip.AddrPort) { c.recorder.attack.To, c.dialer.to = to, to }

// fire sends one request for demo/web and returns what was logged about it.
func (c *client) fire() event.Request {
	c.t.Helper()
	s := shot{due: time.Now(), target: Target{Host: "web.example", Path: c.path, Service: "demo/web", TLS: c.dialer.tls.IsValid()}}
	if c.recorder.lane.http == nil {
		(&exchangeSender{recorder: *c.recorder, dialer: c.dialer}).send(s)
	} else {
		if c.recorder.lane.http.body != nil {
			s.body = []byte("0123456789abcdef0123456789abcdef")
		}
		recorder := *c.recorder
		recorder.attack.Targets = []Target{s.target}
		newHTTPSender(recorder, c.transport).send(s)
	}
	requests := c.log.requests(c.t)
	return requests[len(requests)-1]
}

func pod(t *testing.T, prefix, name, service string) backend.Pod {
	t.Helper()
	free, err := port.Free(2)
	if err != nil {
		t.Fatal(err)
	}
	f := backend.New(backend.Options{Prefix: netip.MustParsePrefix(prefix), Port: free, StreamPort: free + 1})
	t.Cleanup(f.Stop)
	p, err := f.Start(name, service)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Ready(); err != nil {
		t.Fatal(err)
	}
	return p
}
