package traffic

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/sim/event"
)

// proxy is a real nginx in front of one pod.
type proxy struct {
	*nginxtest.Nginx
	address netip.AddrPort
}

func startNginx(t *testing.T, to netip.AddrPort) proxy {
	t.Helper()
	return startNginxWith(t, to, nginxtest.Conf{}, "")
}

// startNginxWith also takes a configuration, to which it adds the proxy, and more locations.
func startNginxWith(t *testing.T, to netip.AddrPort, conf nginxtest.Conf, locations string) proxy {
	t.Helper()
	address := nginxtest.FreeAddress(t)
	conf.HTTP = fmt.Sprintf(`upstream pod { server %s; keepalive 32; }
map $http_upgrade $to_upgrade { default upgrade; "" ""; }
server {
  listen %s;
  proxy_buffering off;
  proxy_request_buffering off;
  location / {
    proxy_pass http://pod;
    proxy_http_version 1.1;
    proxy_set_header Upgrade $http_upgrade;
    proxy_set_header Connection $to_upgrade;
  }
%s
}`, to, address, locations)
	return proxy{nginxtest.Start(t, conf), netip.MustParseAddrPort(address)}
}

// Reloads of a real nginx under two lanes: each request that the lane post loses has a cause that a
// reload explains, and without reloads nothing is lost.
func TestReloadsOfNginx(t *testing.T) {
	nginx := startNginx(t, pod(t, "127.203.0.0/24", "demo/web-1", "demo/web").Addr())

	rate := vegeta.Rate{Freq: 500, Per: time.Second}
	control := tally(t, nginx, first{rate, 500}, nil)
	reloaded := tally(t, nginx, rate, func() {
		for range 30 {
			nginx.Reload()
		}
	})
	t.Logf("control:  %s", show(control))
	t.Logf("reloaded: %s", show(reloaded))

	for lane, c := range control {
		if len(c.Causes) != 0 {
			t.Errorf("%s: requests failed without a reload: %v", lane, c.Causes)
		}
	}
	for lane, r := range reloaded {
		for _, cause := range slices.Sorted(maps.Keys(r.Causes)) {
			switch cause {
			case event.IdleClose, event.Reset, event.EOF, event.Truncated:
			case event.OurCancel: // on a host too busy to finish in a second
			default:
				t.Errorf("%s: %d requests failed with the cause %s, which a reload does not explain: %s", lane, r.Causes[cause], cause, r.Details[cause])
			}
		}
		if r.Sockets <= control[lane].Sockets {
			t.Errorf("%s: opened only %d sockets with 30 reloads, and %d without", lane, r.Sockets, control[lane].Sockets)
		}
	}
	if retries := reloaded["post"].Retries; retries != 0 {
		t.Errorf("the lane that never retries retried %d times", retries)
	}
}

// count has the counts of one lane.
type count struct {
	Sent, Retries, Sockets int
	Causes                 map[event.Cause]int
	Details                map[event.Cause]string // the last
}

// tally runs both lanes while act runs, or until the pacer stops.
func tally(t *testing.T, nginx proxy, rate vegeta.Pacer, act func()) map[string]*count {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := newEvents()
	var attacks sync.WaitGroup
	counts := map[string]*count{}
	for _, lane := range []string{"http", "post"} {
		counts[lane] = &count{Causes: map[event.Cause]int{}, Details: map[event.Cause]string{}}
		attacks.Go(func() {
			err := Run(ctx, Attack{
				Lane: lane, Rate: rate, To: nginx.address, Seed: 1,
				Targets: []Target{{Host: "web", Service: "demo/web"}}, Log: log.Log,
				MaxInFlight: 20, // on a busy host, many more would wait for each other until they time out
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	if act != nil {
		act()
		cancel()
	}
	attacks.Wait()
	for _, e := range log.all(t) {
		switch {
		case e.Request != nil:
			c := counts[e.Request.Lane]
			c.Sent++
			c.Retries += e.Request.Retries
			if cause := e.Request.Cause; cause != "" {
				c.Causes[cause]++
				c.Details[cause] = e.Request.Detail
			}
		case e.Socket != nil && e.Socket.Opened:
			counts[e.Socket.Lane].Sockets++
		}
	}
	for lane, c := range counts {
		if c.Sent == 0 {
			t.Errorf("%s: no request was sent", lane)
		}
	}
	return counts
}

func show(counts map[string]*count) string {
	var text strings.Builder
	for _, lane := range []string{"http", "post"} {
		fmt.Fprintf(&text, "%s %+v; ", lane, *counts[lane])
	}
	return text.String()
}

// Long requests through a real nginx survive a reload, because the old workers finish
// them.
func TestLongRequestsSurviveAReload(t *testing.T) {
	nginx := startNginx(t, pod(t, "127.205.0.0/24", "demo/web-1", "demo/web").Addr())
	var running sync.WaitGroup
	logs := map[string]*events{}
	for _, lane := range []string{"slow", "upload", "download", "sse", "websocket"} {
		log := newEvents()
		logs[lane] = log
		running.Go(func() {
			err := Run(t.Context(), Attack{
				Lane: lane, Rate: first{vegeta.Rate{Freq: 100, Per: time.Second}, 10}, To: nginx.address, Log: log.Log,
				Targets: []Target{{Host: "web.example", Service: "demo/web"}}, Last: time.Second, Bytes: 100_000,
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	nginx.Reload()
	running.Wait()
	for lane, log := range logs {
		all := log.requests(t)
		if len(all) != 10 {
			t.Errorf("%s: %d requests, want 10", lane, len(all))
		}
		for _, r := range all {
			if r.Cause != "" {
				t.Errorf("%s: %s: %s", lane, r.Cause, r.Detail)
			}
		}
	}
}
