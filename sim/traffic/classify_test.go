package traffic

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
)

// both are the two lanes of simple requests: with retries, and without.
var both = []string{"http", "post"}

// causes contains each cause that a server can produce, and how.
var causes = []struct {
	name  string
	lanes []string
	want  event.Cause
	// number of successful requests on the same connection before
	after   int
	timeout time.Duration
	script  func(*peer)
}{
	{name: "a whole answer", lanes: both, want: "", script: (*peer).ok},
	{name: "an interim answer first", lanes: both, want: "", script: func(p *peer) {
		sum := p.read()
		io.WriteString(p, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"+answer(200, "demo/web-1", "demo/web", sum))
	}},
	{name: "an error while the request is still being sent", lanes: []string{"post"}, want: event.NginxError,
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
}

// Each cause, on a real socket, in both lanes if it can happen in both.
func TestCauses(t *testing.T) {
	for _, test := range causes {
		for _, lane := range test.lanes {
			t.Run(test.name+"/"+lane, func(t *testing.T) {
				c := newClient(t, lane, serve(t, test.script).address)
				for range test.after {
					if r := c.fire(); r.Cause != "" {
						t.Fatalf("an earlier request: %s: %s", r.Cause, r.Detail)
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
					t.Errorf("connection reused: %v", r.Reused)
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

// If the generator cannot connect to an address, the subject is not at fault.
func TestLocalDialErrors(t *testing.T) {
	for _, lane := range Lanes() {
		if ListenerOf(lane) == UDP {
			continue // UDP may broadcast
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

func TestCancelledRequests(t *testing.T) {
	for _, lane := range Lanes() {
		if ListenerOf(lane) == UDP {
			continue // has no connection; see TestDatagramsAtTheEnd
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

// If nothing listens when a request is repeated, the cause of its failure is the refusal, not what
// happened to the first connection.
func TestRetryIsRefused(t *testing.T) {
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

// Retries that a client hides are counted; the log describes the last connection.
func TestRetryIsCounted(t *testing.T) {
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

// The lane post checks a connection before it sends: it does not fail on one that is known to be
// dead, nor on one with unrequested data.
func TestPostChecksConnections(t *testing.T) {
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
			close(spoiled) // on loopback, sent data has already arrived
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

// A connection with bytes after the answer is not reused.
func TestConnectionWithExtraBytes(t *testing.T) {
	c := newClient(t, "post", serve(t, func(p *peer) {
		io.WriteString(p, answer(200, "demo/web-1", "demo/web", p.read())+"HTTP/1.1 200 OK\r\n")
		p.untilClosed()
	}, (*peer).ok).address)
	for range 2 {
		if r := c.fire(); r.Cause != "" || r.Reused {
			t.Errorf("got %+v", r)
		}
	}
}

// A connection is not reused after an answer with Connection: close.
func TestConnectionClose(t *testing.T) {
	bye := func(p *peer) {
		a := answer(200, "demo/web-1", "demo/web", p.read())
		io.WriteString(p, strings.Replace(a, "\r\n", "\r\nConnection: close\r\n", 1))
		p.untilClosed()
	}
	c := newClient(t, "post", serve(t, bye, bye).address)
	for range 2 {
		if r := c.fire(); r.Cause != "" || r.Reused {
			t.Errorf("got %+v", r)
		}
	}
}

// Whatever bytes a server sends, a request ends with a known cause, or successfully with the answer
// of a pod.
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
			t.Errorf("a successful request has the result %+v", r)
		}
	})
}

// The answers of pods that do not name themselves are classified by status alone.
func TestAnonymousAnswers(t *testing.T) {
	for status, want := range map[int]event.Cause{200: "", 308: "", 404: event.AnyOther, 429: event.AnyOther, 502: event.AnyError} {
		if got, _ := classify(outcome{anonymous: true, status: status, wantService: "shop/web", body: []byte("<html>")}); got != want {
			t.Errorf("%d: %q, want %q", status, got, want)
		}
	}
}
