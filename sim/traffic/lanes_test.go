package traffic

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/event"
)

// Every lane works with a pod, and logs the results.
func TestEveryLaneSucceeds(t *testing.T) {
	for i, name := range Lanes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, name, entrance(t, name, pod(t, fmt.Sprintf("127.203.%d.0/24", i), "demo/web-1", "demo/web")))
			for range 2 {
				got := c.fire()
				if got.Cause != "" || got.Pod != "demo/web-1" || got.Lane != name {
					t.Errorf("got %+v", got)
				}
				// One in each interval: fewer on a busy machine, never more.
				if found, _ := find(name); found.stream && (got.Messages == 0 || got.Messages > 1+int(got.Took/streamInterval)) {
					t.Errorf("%d messages in %v: %+v", got.Messages, got.Took, got)
				}
				if name == "fresh" && got.Reused {
					t.Error("a fresh connection was used before")
				}
			}
		})
	}
}

// A pod that ends in the middle cuts off the exchange: an answer is truncated, a stream is cut,
// and none is a success.
func TestPodEndsInTheMiddle(t *testing.T) {
	for _, test := range []struct {
		lane   string
		answer string // the beginning; then the connection closes
		reset  bool
		want   event.Cause
	}{
		{"slow", "HTTP/1.1 200 OK\r\nX-Windtunnel-Pod: demo/web-1\r\nX-Windtunnel-Service: demo/web\r\nContent-Length: 100\r\n\r\n  ", false, event.Truncated},
		{"slow", "HTTP/1.1 200 OK\r\nX-Windtunnel-Pod: demo/web-1\r\nX-Windtunnel-Service: demo/web\r\nContent-Length: 100\r\n\r\n  ", true, event.Truncated},
		{"download", "HTTP/1.1 200 OK\r\nX-Windtunnel-Pod: demo/web-1\r\nX-Windtunnel-Service: demo/web\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{}\n\r\n4\r\nabcd\r\n", false, event.Truncated},
		{"sse", "HTTP/1.1 200 OK\r\nX-Windtunnel-Pod: demo/web-1\r\nX-Windtunnel-Service: demo/web\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nid: 1\n\n\r\n", false, event.StreamCut},
		{"sse", "HTTP/1.1 200 OK\r\nX-Windtunnel-Pod: demo/web-1\r\nX-Windtunnel-Service: demo/web\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nid: 1\n\n\r\n", true, event.StreamCut},
		// The stream ends cleanly, but early.
		{"sse", "HTTP/1.1 200 OK\r\nX-Windtunnel-Pod: demo/web-1\r\nX-Windtunnel-Service: demo/web\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nid: 1\n\n\r\n0\r\n\r\n", false, event.StreamCut},
	} {
		t.Run(fmt.Sprint(test.lane, " ", test.want, " reset=", test.reset), func(t *testing.T) {
			s := serve(t, func(p *peer) {
				p.read()
				io.WriteString(p, test.answer)
				if test.reset {
					p.reset()
				}
			})
			if got := newClient(t, test.lane, s.address).fire(); got.Cause != test.want {
				t.Errorf("cause %q (%s), want %q", got.Cause, got.Detail, test.want)
			}
		})
	}
}

func TestWebsocketIsCutByItsPod(t *testing.T) {
	p := pod(t, "127.204.0.0/24", "demo/web-1", "demo/web")
	c := newClient(t, "websocket", p.Addr())
	c.recorder.attack.Last = time.Minute
	c.transport.(traced).netTransport.(*websocketTransport).last = time.Minute
	gone := make(chan struct{})
	time.AfterFunc(250*time.Millisecond, func() { p.Gone(); close(gone) }) // between two messages
	got := c.fire()
	<-gone
	if got.Cause != event.StreamCut || got.Messages == 0 || !strings.Contains(got.Detail, "messages") {
		t.Errorf("got %+v", got)
	}
}

// A complete answer with wrong contents is not a success.
func TestContentsAreChecked(t *testing.T) {
	head := "HTTP/1.1 200 OK\r\nX-Windtunnel-Pod: demo/web-1\r\nX-Windtunnel-Service: demo/web\r\nX-Windtunnel-State: ready\r\n"
	for lane, answer := range map[string]string{
		"download": head + "X-Windtunnel-Sum: 1234\r\nContent-Length: 7\r\n\r\n{}\nabcd",
		"upload":   head + "X-Windtunnel-Body: 1234\r\nContent-Length: 2\r\n\r\n{}",
		"sse":      head + "Transfer-Encoding: chunked\r\n\r\n7\r\nid: 2\n\n\r\n7\r\nid: 3\n\n\r\n7\r\nid: 4\n\n\r\n0\r\n\r\n",
	} {
		t.Run(lane, func(t *testing.T) {
			s := serve(t, func(p *peer) {
				p.read()
				io.WriteString(p, answer)
				p.untilClosed()
			})
			if got := newClient(t, lane, s.address).fire(); got.Cause != event.Corrupted {
				t.Errorf("cause %q (%s)", got.Cause, got.Detail)
			}
		})
	}
}

// An answer to the handshake that is not an upgrade is not a success, and a redirect is not followed.
func TestWebsocketRefused(t *testing.T) {
	identity := backend.Identity{Pod: "demo/web-1", Service: "demo/web", State: backend.Ready, Body: emptySum}
	text, err := json.Marshal(identity)
	if err != nil {
		t.Fatal(err)
	}
	asPod := fmt.Sprintf("X-Windtunnel-Pod: %s\r\nX-Windtunnel-Service: %s\r\nX-Windtunnel-State: %s\r\nX-Windtunnel-Body: %s\r\nContent-Length: %d\r\n\r\n%s",
		identity.Pod, identity.Service, identity.State, identity.Body, len(text), text)
	for name, test := range map[string]struct {
		answer string
		want   event.Cause
		status int
	}{
		"an error":               {"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", event.NginxError, 503},
		"a redirect":             {"HTTP/1.1 308 Permanent Redirect\r\nLocation: https://it.example/\r\nContent-Length: 0\r\n\r\n", event.NginxOther, 308},
		"a pod without upgrades": {"HTTP/1.1 200 OK\r\n" + asPod, event.Corrupted, 200},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(p *peer) {
				p.read()
				io.WriteString(p, test.answer)
				p.untilClosed()
			})
			if got := newClient(t, "websocket", s.address).fire(); got.Cause != test.want || got.Status != test.status {
				t.Errorf("got %+v", got)
			}
		})
	}
}
