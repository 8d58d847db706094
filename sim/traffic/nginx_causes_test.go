package traffic

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
)

// What nginx makes itself is told from what a pod says, status by status.
func TestErrorsOfNginx(t *testing.T) {
	late := serve(t, (*peer).untilClosed, (*peer).untilClosed).address
	busy := func(p *peer) { io.WriteString(p, answer(503, "demo/web-1", "demo/web", p.read())) }
	own := serve(t, busy, busy).address
	short := func(p *peer) { a := answer(200, "demo/web-1", "demo/web", p.read()); io.WriteString(p, a[:len(a)-5]) }
	cut := serve(t, short, short).address
	nginx := startNginxWith(t, pod(t, "127.210.0.0/24", "demo/web-1", "demo/web").Addr(), "", fmt.Sprintf(`
    location /refused { proxy_pass http://127.0.0.1:1; }
    location /late { proxy_read_timeout 50ms; proxy_pass http://%s; }
    location /none { return 503; }
    location /own { proxy_pass http://%s; }
    location /cut { proxy_pass http://%s; }`, late, own, cut))
	for path, want := range map[string]struct {
		cause  event.Cause
		status int
	}{
		"/":        {"", 200},
		"/refused": {event.NginxError, 502},
		"/late":    {event.NginxError, 504},
		"/none":    {event.NginxError, 503},
		"/own":     {event.PodError, 503},
		"/cut":     {event.Truncated, 200},
	} {
		for _, lane := range []string{"http", "post"} {
			c := newClient(t, lane, nginx.address)
			c.path = path
			if r := c.fire(); r.Cause != want.cause || r.Status != want.status {
				t.Errorf("%s %s: status %d, cause %q (%s); want %d, %q", lane, path, r.Status, r.Cause, r.Detail, want.status, want.cause)
			}
		}
	}
}

// A worker that has waited worker_shutdown_timeout cuts what it still has, and
// the cause says when and after how many messages.
func TestStreamsCutByNginx(t *testing.T) {
	asked := make(chan struct{})
	streaming := serve(t, func(p *peer) {
		p.read()
		io.WriteString(p, "HTTP/1.1 200 OK\r\nX-Windtunnel-Pod: demo/web-1\r\nX-Windtunnel-Service: demo/web\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nid: 1\n\n\r\n")
		close(asked)
		p.untilClosed()
	})
	nginx := startNginxWith(t, streaming.address, "worker_shutdown_timeout 300ms;", "")
	c := newClient(t, "sse", nginx.address)
	c.recorder.attack.Last = time.Minute
	reloaded := make(chan struct{})
	go func() {
		defer close(reloaded)
		<-asked
		nginx.reload()
	}()
	r := c.fire()
	<-reloaded
	if want := fmt.Sprintf("after %v and 1 messages: ", r.Took.Round(time.Millisecond)); r.Cause != event.StreamCut || !strings.HasPrefix(r.Detail, want) {
		t.Errorf("cause %q (%s), want one that begins with %q", r.Cause, r.Detail, want)
	}
}
