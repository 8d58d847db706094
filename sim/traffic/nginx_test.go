package traffic

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/internal/port"
	"windtunnel.dev/sim/event"
)

// proxy is a real nginx in front of one pod.
type proxy struct {
	t       *testing.T
	command *exec.Cmd
	address netip.AddrPort
	seen    map[string]bool // PIDs of workers
}

const workers = 2

func startNginx(t *testing.T, to netip.AddrPort) *proxy {
	t.Helper()
	return startNginxWith(t, to, "", "")
}

// startNginxWith adds directives to the main block, and locations.
func startNginxWith(t *testing.T, to netip.AddrPort, main, locations string) *proxy {
	t.Helper()
	if testing.Short() {
		t.Skip("needs nginx; not run with -short")
	}
	found, err := nginx.Find("")
	if err != nil {
		t.Skip(err)
	}
	free, err := port.Free(1)
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, address: netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(free)), seen: map[string]bool{}}
	dir := t.TempDir()
	user := ""
	if os.Geteuid() == 0 {
		user = "user root;\n" // the workers write to folders of the test's user
	}
	conf := fmt.Sprintf(`%sdaemon off;
%[6]s
pid %[2]s/pid;
error_log stderr crit;
worker_processes %[3]d;
events {}
http {
  access_log off;
  client_body_temp_path %[2]s/body;
  proxy_temp_path %[2]s/proxy;
  fastcgi_temp_path %[2]s/fastcgi;
  uwsgi_temp_path %[2]s/uwsgi;
  scgi_temp_path %[2]s/scgi;
  upstream pod { server %[4]s; keepalive 32; }
  map $http_upgrade $to_upgrade { default upgrade; "" ""; }
  server {
    listen %[5]s;
    proxy_buffering off;
    proxy_request_buffering off;
    location / {
      proxy_pass http://pod;
      proxy_http_version 1.1;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $to_upgrade;
    }
%[7]s
  }
}
`, user, dir, workers, to, p.address, main, locations)
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	p.command = exec.Command(found.Binary, "-e", "stderr", "-p", dir, "-c", path)
	p.command.Stderr = os.Stderr
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.command.Process.Signal(syscall.SIGTERM)
		p.command.Wait()
	})
	p.waitForWorkers()
	return p
}

// reload returns when a whole new set of workers has started.
func (p *proxy) reload() {
	p.t.Helper()
	if err := p.command.Process.Signal(syscall.SIGHUP); err != nil {
		p.t.Fatal(err)
	}
	p.waitForWorkers()
}

// waitForWorkers waits for a complete set of new workers.
func (p *proxy) waitForWorkers() {
	p.t.Helper()
	p.waitUntil("new workers", func(children []string) bool {
		fresh := slices.DeleteFunc(children, func(pid string) bool { return p.seen[pid] })
		if len(fresh) < workers {
			return false
		}
		for _, pid := range fresh {
			p.seen[pid] = true
		}
		return true
	})
}

// waitForOldWorkers waits until every worker except the newest ones has ended, or has a title that
// says that it shuts down.
func (p *proxy) waitForOldWorkers() {
	p.t.Helper()
	p.waitUntil("end of the old workers", func(children []string) bool {
		return workers == len(slices.DeleteFunc(children, func(pid string) bool {
			title, err := os.ReadFile("/proc/" + pid + "/cmdline")
			return err != nil || strings.Contains(string(title), "shutting down")
		}))
	})
}

func (p *proxy) waitUntil(what string, isSo func(children []string) bool) {
	p.t.Helper()
	pid := p.command.Process.Pid
	deadline := time.After(20 * time.Second)
	look := time.NewTicker(2 * time.Millisecond)
	defer look.Stop()
	for {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		if err != nil {
			p.t.Fatal(err)
		}
		if isSo(strings.Fields(string(text))) {
			return
		}
		select {
		case <-look.C:
		case <-deadline:
			p.t.Fatalf("timeout after 20 s waiting for %s", what)
		}
	}
}

// Reloads of a real nginx under two lanes: each request that the lane post loses has a cause that a
// reload explains, and without reloads nothing is lost.
func TestReloadsOfNginx(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; not run with -short")
	}
	nginx := startNginx(t, pod(t, "127.203.0.0/24", "demo/web-1", "demo/web").Addr())

	rate := vegeta.Rate{Freq: 500, Per: time.Second}
	control := tally(t, nginx, first{rate, 500}, nil)
	reloaded := tally(t, nginx, rate, func() {
		for range 30 {
			nginx.reload()
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

// count is what happened to one lane.
type count struct {
	Sent, Retries, Sockets int
	Causes                 map[event.Cause]int
	Details                map[event.Cause]string // the last
}

// tally runs both lanes while act runs, or until the pacer stops.
func tally(t *testing.T, nginx *proxy, rate vegeta.Pacer, act func()) map[string]*count {
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
	nginx.reload()
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
