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
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
)

// server is a peer whose every connection is played by a script.
type server struct {
	address netip.AddrPort
}

// serve plays one connection with each script, in the order of their coming.
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

// read takes a whole request and returns the checksum of its body.
func (p *peer) read() string {
	r, err := http.ReadRequest(p.reader)
	if err != nil {
		return ""
	}
	body, _ := io.ReadAll(r.Body)
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// answer is a pod's answer, whole and true unless a test changes it.
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

// untilClosed waits for the client to go.
func (p *peer) untilClosed() { io.Copy(io.Discard, p.reader) }

// client is a lane's client that a test fires shot by shot.
type client struct {
	t         testing.TB
	recorder  *recorder
	transport transport
	log       *events
	cancel    context.CancelCauseFunc
	path      string // of what is asked for
}

func newClient(t testing.TB, laneName string, to netip.AddrPort) *client {
	t.Helper()
	l, ok := find(laneName)
	if !ok {
		t.Fatalf("no lane %s", laneName)
	}
	log := newEvents()
	inFlight, cancel := context.WithCancelCause(t.Context())
	sockets := &dialer{lane: laneName, log: log.Log, to: to}
	transport := l.open(sockets, Attack{MaxInFlight: 10, Last: 300 * time.Millisecond, Bytes: 100_000})
	t.Cleanup(transport.CloseIdleConnections)
	return &client{t: t, log: log, transport: transport, cancel: cancel, recorder: &recorder{
		attack:    Attack{Lane: laneName, To: to, Timeout: 10 * time.Second, Log: log.Log, Last: 300 * time.Millisecond, Bytes: 100_000},
		lane:      l,
		transport: transport,
		sockets:   sockets,
		inFlight:  inFlight,
	}}
}

// aim has the client go elsewhere from now on.
func (c *client) aim(to netip.AddrPort) { c.recorder.attack.To, c.recorder.sockets.to = to, to }

// fire sends one request for demo/web and returns what was logged of it.
func (c *client) fire() event.Request {
	c.t.Helper()
	s := shot{due: time.Now(), target: Target{Host: "web.example", Path: c.path, Service: "demo/web"}}
	var body io.Reader
	if c.recorder.lane.body != nil {
		s.body = []byte("0123456789abcdef0123456789abcdef")
		body = strings.NewReader(string(s.body))
	}
	request, err := http.NewRequest(c.recorder.lane.method, c.recorder.attack.url(c.recorder.lane.door, s.target), body)
	if err != nil {
		c.t.Fatal(err)
	}
	request.Host = s.target.Host
	c.recorder.send(s, request)
	requests := c.log.requests(c.t)
	return requests[len(requests)-1]
}

// Each cause, made on a real socket, in both lanes where both can meet it.
func TestCauses(t *testing.T) {
	both := []string{"http", "post"}
	for _, test := range []struct {
		name  string
		lanes []string
		want  event.Cause
		// after so many requests that went well on the same connection
		after   int
		timeout time.Duration
		script  func(*peer)
	}{
		{name: "a whole answer", lanes: both, want: "", script: (*peer).ok},
		{name: "an interim answer before", lanes: both, want: "", script: func(p *peer) {
			sum := p.read()
			io.WriteString(p, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"+answer(200, "demo/web-1", "demo/web", sum))
		}},
		{name: "an error while the request is still on its way", lanes: []string{"post"}, want: event.NginxError,
			script: func(p *peer) {
				io.WriteString(p, "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
				p.read()
			}},
		{name: "FIN crosses the request on a reused connection", lanes: []string{"post"}, after: 1, want: event.IdleClose,
			script: func(p *peer) { p.ok(); p.read() }},
		{name: "RST crosses the request on a reused connection", lanes: []string{"post"}, after: 1, want: event.Reset,
			script: func(p *peer) { p.ok(); p.read(); p.reset() }},
		{name: "closed with the request unread", lanes: []string{"post"}, after: 1, want: event.Reset,
			script: func(p *peer) { p.ok(); p.TCPConn.Read(make([]byte, 1)); p.Close() }},
		{name: "RST on a fresh connection", lanes: both, want: event.Reset,
			script: func(p *peer) { p.read(); p.reset() }},
		{name: "FIN on a fresh connection", lanes: both, want: event.EOF,
			script: func(p *peer) { p.read() }},
		{name: "FIN in the headers", lanes: both, want: event.Truncated,
			script: func(p *peer) { p.read(); io.WriteString(p, "HTTP/1.1 200 OK\r\nX-Wi") }},
		{name: "FIN in the body", lanes: both, want: event.Truncated,
			script: func(p *peer) { a := answer(200, "demo/web-1", "demo/web", p.read()); io.WriteString(p, a[:len(a)-5]) }},
		{name: "FIN in the body of a reused connection", lanes: both, after: 1, want: event.Truncated,
			script: func(p *peer) {
				p.ok()
				a := answer(200, "demo/web-1", "demo/web", p.read())
				io.WriteString(p, a[:len(a)-5])
			}},
		{name: "FIN in a chunked body", lanes: both, want: event.Truncated,
			script: func(p *peer) {
				p.read()
				io.WriteString(p, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc")
			}},
		{name: "not HTTP", lanes: both, want: event.Corrupted,
			script: func(p *peer) { p.read(); io.WriteString(p, "SSH-2.0-whatever\r\n\r\n") }},
		{name: "checksum of another body", lanes: both, want: event.Corrupted,
			script: func(p *peer) {
				p.read()
				io.WriteString(p, answer(200, "demo/web-1", "demo/web", strings.Repeat("0", 64)))
			}},
		{name: "headers of one pod, body of another", lanes: both, want: event.Corrupted,
			script: func(p *peer) {
				a := answer(200, "demo/web-1", "demo/web", p.read())
				io.WriteString(p, strings.Replace(a, `"demo/web-1"`, `"demo/web-2"`, 1))
			}},
		{name: "200 by nobody", lanes: both, want: event.Corrupted,
			script: func(p *peer) { p.read(); io.WriteString(p, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") }},
		{name: "no answer in time", lanes: both, want: event.Timeout, timeout: 20 * time.Millisecond,
			script: (*peer).untilClosed},
		{name: "no end of the answer in time", lanes: both, want: event.Timeout, timeout: 50 * time.Millisecond,
			script: func(p *peer) {
				a := answer(200, "demo/web-1", "demo/web", p.read())
				io.WriteString(p, a[:len(a)-5])
				p.untilClosed()
			}},
		{name: "502 by nginx", lanes: both, want: event.NginxError,
			script: func(p *peer) { p.read(); io.WriteString(p, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n") }},
		{name: "503 by a pod", lanes: both, want: event.PodError,
			script: func(p *peer) { io.WriteString(p, answer(503, "demo/web-1", "demo/web", p.read())) }},
		{name: "404 by nginx", lanes: both, want: event.NotFound,
			script: func(p *peer) { p.read(); io.WriteString(p, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n") }},
		{name: "413 by nginx", lanes: both, want: event.NginxOther,
			script: func(p *peer) { p.read(); io.WriteString(p, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n") }},
		{name: "429 by a pod", lanes: both, want: event.PodOther,
			script: func(p *peer) { io.WriteString(p, answer(429, "demo/web-1", "demo/web", p.read())) }},
		{name: "a pod of another service", lanes: both, want: event.WrongPod,
			script: func(p *peer) { io.WriteString(p, answer(200, "demo/api-1", "demo/api", p.read())) }},
		{name: "a pod that is gone", lanes: both, want: event.GonePod,
			script: func(p *peer) {
				a := answer(200, "demo/web-1", "demo/web", p.read())
				io.WriteString(p, strings.Replace(a, "State: ready", "State: gone", 1))
			}},
		{name: "an error by a pod of another service", lanes: both, want: event.WrongPod,
			script: func(p *peer) { io.WriteString(p, answer(500, "demo/api-1", "demo/api", p.read())) }},
	} {
		for _, lane := range test.lanes {
			t.Run(test.name+"/"+lane, func(t *testing.T) {
				c := newClient(t, lane, serve(t, test.script).address)
				for range test.after {
					if r := c.fire(); r.Cause != "" {
						t.Fatalf("a request before: %s: %s", r.Cause, r.Detail)
					}
				}
				if test.timeout != 0 {
					c.recorder.attack.Timeout = test.timeout
				}
				r := c.fire()
				if r.Cause != test.want || (r.Cause == "") != (r.Detail == "") {
					t.Errorf("cause %q (%s), want %q", r.Cause, r.Detail, test.want)
				}
				if r.Reused != (test.after > 0) {
					t.Errorf("reused: %v", r.Reused)
				}
				if r.Retries != 0 {
					t.Errorf("%d retries", r.Retries)
				}
			})
		}
	}
}

func TestRefused(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	to := l.Addr().(*net.TCPAddr).AddrPort()
	l.Close()
	for _, lane := range Lanes() {
		if r := newClient(t, lane, to).fire(); r.Cause != event.Refused {
			t.Errorf("%s: cause %q (%s)", lane, r.Cause, r.Detail)
		}
	}
}

// An address that cannot be connected to from here is the generator's trouble.
func TestOurDialing(t *testing.T) {
	for _, lane := range Lanes() {
		if DoorOf(lane) == UDP {
			continue // may broadcast
		}
		c := newClient(t, lane, netip.MustParseAddrPort("255.255.255.255:80"))
		if r := c.fire(); r.Cause != event.OurDialing {
			t.Errorf("%s: cause %q (%s)", lane, r.Cause, r.Detail)
		}
	}
	noFiles := &net.OpError{Op: "dial", Err: os.NewSyscallError("socket", syscall.EMFILE)}
	if got := classifyDial(noFiles); got != event.OurDialing {
		t.Errorf("without file descriptors: %q", got)
	}
}

func TestOurCancel(t *testing.T) {
	for _, lane := range Lanes() {
		if DoorOf(lane) == UDP {
			continue // has no connection; TestDatagrams
		}
		asked := make(chan struct{})
		c := newClient(t, lane, serve(t, func(p *peer) { p.reader.Peek(1); close(asked); p.untilClosed() }).address)
		go func() {
			<-asked
			c.cancel(errEnded)
		}()
		if r := c.fire(); r.Cause != event.OurCancel {
			t.Errorf("%s: cause %q (%s)", lane, r.Cause, r.Detail)
		}
	}
}

// A replay that finds nobody listening has failed by that, not by what
// became of the first connection.
func TestReplayRefused(t *testing.T) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		p := &peer{TCPConn: c.(*net.TCPConn), reader: bufio.NewReader(c)}
		p.ok()
		p.read()
		l.Close()
		p.Close()
	}()
	c := newClient(t, "http", l.Addr().(*net.TCPAddr).AddrPort())
	if r := c.fire(); r.Cause != "" {
		t.Fatalf("%s: %s", r.Cause, r.Detail)
	}
	if r := c.fire(); r.Cause != event.Refused {
		t.Errorf("cause %q (%s)", r.Cause, r.Detail)
	}
}

// What a replaying client hides is counted; what its request went out on in
// the end is what is told of it.
func TestReplayIsCounted(t *testing.T) {
	for name, end := range map[string]func(*peer){"FIN": func(*peer) {}, "RST": (*peer).reset} {
		c := newClient(t, "http", serve(t, func(p *peer) { p.ok(); p.read(); end(p) }, (*peer).ok).address)
		if r := c.fire(); r.Cause != "" || r.Retries != 0 || r.Reused {
			t.Fatalf("%s: the first request: %+v", name, r)
		}
		if r := c.fire(); r.Cause != "" || r.Retries != 1 || r.Reused {
			t.Errorf("%s: the replayed request: %+v", name, r)
		}
		if opened := c.log.opened(t); opened != 2 {
			t.Errorf("%s: %d sockets opened, want 2", name, opened)
		}
	}
}

// A client that looks before it sends does not fail on a connection that it
// could know to be dead, nor on one with something unasked in it.
func TestLookBeforeSending(t *testing.T) {
	for name, spoil := range map[string]func(*peer){
		"FIN":  func(p *peer) { p.Close() },
		"RST":  (*peer).reset,
		"data": func(p *peer) { io.WriteString(p, "HTTP/1.1 408 Request Timeout\r\n\r\n") },
	} {
		spoiled, answered := make(chan struct{}), make(chan struct{})
		c := newClient(t, "post", serve(t, func(p *peer) {
			p.ok()
			<-answered
			spoil(p)
			close(spoiled) // on loopback, what was sent has arrived
			p.untilClosed()
		}, (*peer).ok).address)
		if r := c.fire(); r.Cause != "" {
			t.Fatalf("%s: %s: %s", name, r.Cause, r.Detail)
		}
		close(answered)
		<-spoiled
		if r := c.fire(); r.Cause != "" || r.Retries != 0 || r.Reused {
			t.Errorf("%s: %+v", name, r)
		}
		if opened := c.log.opened(t); opened != 2 {
			t.Errorf("%s: %d sockets opened, want 2", name, opened)
		}
	}
}

// What comes with an answer and is not of it spoils the connection, too.
func TestMoreThanTheAnswer(t *testing.T) {
	c := newClient(t, "post", serve(t, func(p *peer) {
		io.WriteString(p, answer(200, "demo/web-1", "demo/web", p.read())+"HTTP/1.1 200 OK\r\n")
		p.untilClosed()
	}, (*peer).ok).address)
	for range 2 {
		if r := c.fire(); r.Cause != "" || r.Reused {
			t.Errorf("%+v", r)
		}
	}
}

// An answer that ends by closing, and one that says so, are not reused.
func TestConnectionClose(t *testing.T) {
	bye := func(p *peer) {
		a := answer(200, "demo/web-1", "demo/web", p.read())
		io.WriteString(p, strings.Replace(a, "\r\n", "\r\nConnection: close\r\n", 1))
		p.untilClosed()
	}
	c := newClient(t, "post", serve(t, bye, bye).address)
	for range 2 {
		if r := c.fire(); r.Cause != "" || r.Reused {
			t.Errorf("%+v", r)
		}
	}
}

// Whatever bytes a server sends, a request ends with one cause that we know,
// or without one and with the answer of a pod.
func FuzzAnswer(f *testing.F) {
	sum := sha256.Sum256([]byte("0123456789abcdef0123456789abcdef"))
	whole := answer(200, "demo/web-1", "demo/web", hex.EncodeToString(sum[:]))
	for _, seed := range []string{
		whole, whole[:len(whole)-1], whole[:20], "", "HTTP/1.1 100 Continue\r\n\r\n" + whole,
		"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n", "HTTP/1.0 200 OK\r\n\r\nuntil the end",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nz\r\n", "\x16\x03\x01",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, bytes []byte) {
		c := newClient(t, "post", serve(t, func(p *peer) { p.read(); p.Write(bytes) }).address)
		switch r := c.fire(); {
		case r.Cause == event.Unknown:
			t.Errorf("status %d: unknown: %s", r.Status, r.Detail)
		case r.Cause == "" && (r.Pod == "" || r.Served != "demo/web"):
			t.Errorf("not a failure, and yet %+v", r)
		}
	})
}
