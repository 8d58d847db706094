package traffic

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/sim/event"
)

// nginx's own errors are distinguished from those of pods, status by status.
func TestErrorsOfNginx(t *testing.T) {
	late := serve(t, (*peer).untilClosed, (*peer).untilClosed).address
	busy := func(p *peer) { io.WriteString(p, answer(503, "demo/web-1", "demo/web", p.read())) }
	own := serve(t, busy, busy).address
	short := func(p *peer) { a := answer(200, "demo/web-1", "demo/web", p.read()); io.WriteString(p, a[:len(a)-5]) }
	cut := serve(t, short, short).address
	nginx := startNginxWith(t, pod(t, "127.210.0.0/24", "demo/web-1", "demo/web").Addr(), nginxtest.Conf{}, fmt.Sprintf(`
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

// A worker cuts open streams after worker_shutdown_timeout, and the cause says when and after
// how many messages.
func TestStreamsCutByNginx(t *testing.T) {
	asked := make(chan struct{})
	streaming := serve(t, func(p *peer) {
		p.read()
		io.WriteString(p, "HTTP/1.1 200 OK\r\nX-Windtunnel-Pod: demo/web-1\r\nX-Windtunnel-Service: demo/web\r\nTransfer-Encoding: chunked\r\n\r\n7\r\nid: 1\n\n\r\n")
		close(asked)
		p.untilClosed()
	})
	nginx := startNginxWith(t, streaming.address, nginxtest.Conf{Main: "worker_shutdown_timeout 300ms;"}, "")
	c := newClient(t, "sse", nginx.address)
	c.recorder.attack.Last = time.Minute
	reloaded := make(chan struct{})
	go func() {
		defer close(reloaded)
		<-asked
		nginx.Reload()
	}()
	r := c.fire()
	<-reloaded
	if want := fmt.Sprintf("after %v and 1 message: ", r.Took.Round(time.Millisecond)); r.Cause != event.StreamCut || !strings.HasPrefix(r.Detail, want) {
		t.Errorf("cause %q (%s), want one that begins with %q", r.Cause, r.Detail, want)
	}
}

// A worker that was told to finish no longer forwards the answers to datagrams, whatever
// worker_shutdown_timeout says.
func TestAnswersToDatagramsAreLostWithTheirWorker(t *testing.T) {
	_, modules := nginxtest.Find(t, "stream")
	for name, test := range map[string]struct {
		reloads bool
		want    event.Cause
	}{
		"the worker stays":  {false, ""},
		"the worker leaves": {true, event.Timeout},
	} {
		t.Run(name, func(t *testing.T) {
			upstream, err := net.ListenPacket("udp4", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer upstream.Close()
			address := netip.MustParseAddrPort(nginxtest.FreeAddress(t))
			nginx := startNginxWith(t, netip.MustParseAddrPort("127.0.0.1:1"), nginxtest.Conf{Modules: modules, Main: fmt.Sprintf(`worker_shutdown_timeout 1m;
stream { server { listen %s udp; proxy_pass %s; proxy_responses 1; } }`, address, upstream.LocalAddr())}, "")

			answered := make(chan error, 1)
			go func() {
				defer close(answered)
				buffer := make([]byte, 1500)
				n, from, err := upstream.ReadFrom(buffer)
				if test.reloads {
					nginx.Reload()
				}
				if err == nil {
					answer := fmt.Sprintf(`{"pod":"demo/web-1","service":"demo/web","body":"%s"}`, sumOf(string(buffer[:n])))
					_, err = upstream.WriteTo([]byte(answer), from)
				}
				answered <- err
			}()
			c := newClient(t, "udp-slow", address)
			c.recorder.attack.Last = time.Second
			if r := c.fire(); r.Cause != test.want {
				t.Errorf("cause %q (%s), want %q", r.Cause, r.Detail, test.want)
			}
			if err := <-answered; err != nil {
				t.Error(err)
			}
		})
	}
}
