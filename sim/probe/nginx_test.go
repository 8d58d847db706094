package probe

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/event"
)

// patience is how long a test waits for something that must happen. It passes only if the test
// fails.
const patience = 60 * time.Second

// titled is how nginx's processes are recognised.
var titled = adapter.Processes{
	Workers: adapter.Titled, Master: adapter.MustPattern("^nginx: master process"),
	Worker: adapter.MustPattern("^nginx: worker process"), Draining: adapter.MustPattern("^nginx: worker process is shutting down"),
}

// nginx is a real nginx with the test's configuration.
type nginx struct {
	*nginxtest.Nginx
	t         *testing.T
	address   string
	upstreams string
	cache     string // a folder
}

// startNginx starts an nginx with two workers. The test gives the content of its server block, and
// upstream blocks.
func startNginx(t *testing.T, server string, upstreams ...string) *nginx {
	t.Helper()
	n := &nginx{t: t, address: nginxtest.FreeAddress(t), upstreams: strings.Join(upstreams, "\n"), cache: nginxtest.Folder(t)}
	n.Nginx = nginxtest.Start(t, n.conf(server))
	return n
}

func (n *nginx) conf(server string) nginxtest.Conf {
	// Workers of root's nginx belong to root, too. Others' nginx ignores the user.
	return nginxtest.Conf{Main: "user root;", HTTP: fmt.Sprintf(`
client_header_timeout 1h; # so that a connection without a request keeps a draining worker, if one is left open
proxy_cache_path %s keys_zone=unused:1m; # brings a cache manager and a loader, which are no workers
%s
server {
  listen %s;
  add_header X-Pid $pid always;
  %s
}`, n.cache, n.upstreams, n.address, server)}
}

// reload makes nginx read a new content of its server block.
func (n *nginx) reload(server string) {
	n.t.Helper()
	n.conf(server).Write(n.t, n.Folder)
	n.Reload()
}

func (n *nginx) master() int { return n.Process.PID() }

// masterPID reads the pid file, which is the only way with a foreign controller.
func (n *nginx) masterPID() (int, error) {
	content, err := os.ReadFile(filepath.Join(n.Folder, "nginx.pid"))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(content)))
}

// run is the log that a test's probes write to, and their context.
type run struct {
	*event.Log
	t      *testing.T
	buf    bytes.Buffer
	ctx    context.Context
	cancel context.CancelFunc
}

func newRun(t *testing.T) *run {
	r := &run{t: t}
	r.Log = event.NewLog(&r.buf, time.Now())
	r.ctx, r.cancel = context.WithTimeout(t.Context(), patience)
	t.Cleanup(r.cancel)
	return r
}

// end stops the probes, waits for them and returns what they logged.
func (r *run) end(probes ...interface{ Done() <-chan struct{} }) []event.Event {
	r.t.Helper()
	r.cancel()
	for _, p := range probes {
		<-p.Done()
	}
	if err := r.Close(); err != nil {
		r.t.Fatal(err)
	}
	var all []event.Event
	for e, err := range event.Read(&r.buf) {
		if err != nil {
			r.t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// started waits until both first workers run, and are so old that a reload makes a new generation.
// It returns them and their newest generation: on a busy machine the first two workers may look
// like two generations.
func (r *run) started(w *Workers) ([]Worker, int) {
	r.t.Helper()
	workers := r.await(w, 0, 2)
	r.old(workers)
	return workers, workers[1].Generation
}

// old waits until the workers are so old that a reload no longer counts as part of the master's
// start.
func (r *run) old(workers []Worker) {
	r.t.Helper()
	for _, w := range workers {
		started, err := startedAt(w.PID)
		if err != nil {
			r.t.Fatal(err)
		}
		<-time.After(started + overlap + 2*clockTick - sinceBoot())
	}
}

// await waits until there are n active workers of a generation (0: of any), and no others.
func (r *run) await(w *Workers, generation, n int) []Worker {
	r.t.Helper()
	alive, err := w.Await(r.ctx, func(alive []Worker) bool {
		for _, worker := range alive {
			if generation != 0 && worker.Generation != generation || worker.State != event.Active {
				return false
			}
		}
		return len(alive) == n
	})
	if err != nil {
		r.t.Fatalf("generation %d: %v: %+v", generation, err, alive)
	}
	return alive
}

// startPod starts a simulated pod that answers with its name, and returns its address.
func startPod(t *testing.T, name string) string {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(podHeader, name)
		fmt.Fprintln(w, name)
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// slowPod holds its answers back until it is released.
type slowPod struct {
	address string
	asked   chan struct{}
	release func()
}

func startSlowPod(t *testing.T) *slowPod {
	released := make(chan struct{})
	p := &slowPod{asked: make(chan struct{}, 1), release: sync.OnceFunc(func() { close(released) })}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.asked <- struct{}{}
		<-released
	}))
	t.Cleanup(s.Close) // waits for the answers
	t.Cleanup(p.release)
	p.address = s.Listener.Addr().String()
	return p
}

func (p *slowPod) ask(address string) {
	if response, err := http.Get("http://" + address + "/"); err == nil {
		response.Body.Close()
	}
}

// switchPod answers with a name that the test can change.
type switchPod struct {
	address string
	name    atomic.Value
	asked   chan struct{}
}

func startSwitchPod(t *testing.T, name string) *switchPod {
	p := &switchPod{asked: make(chan struct{})}
	p.name.Store(name)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set(podHeader, p.name.Load().(string))
		select {
		case p.asked <- struct{}{}:
		default:
		}
	}))
	t.Cleanup(s.Close)
	p.address = s.Listener.Addr().String()
	return p
}

// awaitAnswers waits until the pod has received n requests.
func (p *switchPod) awaitAnswers(ctx context.Context, t *testing.T, n int) {
	t.Helper()
	for range n {
		select {
		case <-p.asked:
		case <-ctx.Done():
			t.Fatal("the pod receives no requests")
		}
	}
}
