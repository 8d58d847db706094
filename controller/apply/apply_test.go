package apply

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"windtunnel.dev/controller/conf"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/wire"
	"windtunnel.dev/internal/nginxtest"
)

// fixture is a target with a real nginx. The status server belongs to the test and answers POSTs as
// configured.
type fixture struct {
	*testing.T
	target *Target
	layout Layout
	port   int          // of nginx
	reject atomic.Int32 // number of POSTs to reject from now on
	posted []string     // paths and bodies of accepted POSTs
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	program, _ := nginxtest.Find(t)
	f := &fixture{T: t, layout: Layout{Root: nginxtest.Folder(t)}, port: nginxtest.FreePorts(t, 1)}
	status := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if f.reject.Add(-1) >= 0 {
			http.Error(w, "dictionary is full", http.StatusInternalServerError)
			return
		}
		f.posted = append(f.posted, r.URL.Path+" "+string(body))
		w.WriteHeader(http.StatusCreated)
	}))
	t.Cleanup(status.Close)
	f.target = New(Options{
		Nginx:      program,
		Layout:     f.layout,
		StatusPort: status.Listener.Addr().(*net.TCPAddr).Port,
		Retry:      wait.Backoff{Steps: 3, Duration: time.Millisecond, Factor: 1.3},
		Stderr:     t.Output(),
	})
	if err := f.layout.Make(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := f.target.Quit(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return f
}

// state returns a state in which nginx answers with the text and has these backends.
func (f *fixture) state(answer, backends string) plan.State {
	root := f.layout.Root
	return plan.State{
		Conf: conf.Whole(fmt.Appendf(nil, `daemon off;
worker_processes 2;
pid %[1]s/tmp/nginx/nginx.pid;
error_log %[1]s/var/log/nginx/error.log;
events {}
http {
	access_log off;
	client_body_temp_path %[1]s/tmp/nginx/body;
	proxy_temp_path %[1]s/tmp/nginx/proxy;
	fastcgi_temp_path %[1]s/tmp/nginx/fastcgi;
	uwsgi_temp_path %[1]s/tmp/nginx/uwsgi;
	scgi_temp_path %[1]s/tmp/nginx/scgi;
	server {
		listen 127.0.0.1:%[2]d;
		return 200 %[3]s;
	}
}
`, root, f.port, answer)),
		LuaConfig: []byte(`{"answer": "` + answer + `"}`),
		Backends:  list(backends),
	}
}

// list returns backends whose body is the text.
func list(body string) wire.List {
	return wire.NewList(&wire.Backend{JSON: []byte(strings.Trim(body, "[]"))})
}

// reach brings nginx to a state, like a sync.
func (f *fixture) reach(next plan.State) (Report, error) {
	return f.target.Do(f.Context(), plan.Diff(f.target.Running(), next))
}

func (f *fixture) must(report Report, err error) Report {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
	return report
}

func (f *fixture) wantAnswer(want string) {
	f.Helper()
	// Use a new connection: an idle one belongs to an old worker.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if got := nginxtest.Get(f.T, client, fmt.Sprintf("http://127.0.0.1:%d/", f.port)); got.Body != want {
		f.Fatalf("nginx answers %q, want %q", got.Body, want)
	}
}

func TestStartThenReload(t *testing.T) {
	f := newFixture(t)
	report := f.must(f.reach(f.state("one", "[]")))
	if !report.Started || report.Reloaded || len(report.Posts) != 1 {
		t.Errorf("report of the start: %+v", report)
	}
	f.wantAnswer("one")

	report = f.must(f.reach(f.state("two", "[]")))
	if p := report.Phases; report.Started || !report.Reloaded || p.Test <= 0 || p.Signal <= 0 || p.FirstWorker <= 0 {
		t.Errorf("report of the reload: %+v", report)
	}
	// No wait is needed: a reload returns when no old worker accepts connections.
	for range 20 {
		f.wantAnswer("two")
	}
	if report := f.must(f.reach(f.state("two", "[]"))); report.Reloaded || report.Posts != nil {
		t.Errorf("report of no change: %+v", report)
	}
}

func TestHalfFailedApplyIsCompleted(t *testing.T) {
	f := newFixture(t)
	f.must(f.reach(f.state("one", "[1]")))

	f.reject.Store(3) // all tries
	next := f.state("two", "[2]")
	report, err := f.reach(next)
	if err == nil || !strings.Contains(err.Error(), "dictionary is full") || !report.Reloaded || len(report.Posts) > 0 {
		t.Fatalf("a rejected POST: %+v, %v", report, err)
	}
	f.wantAnswer("two")
	if running := f.target.Running(); !running.Conf.Equal(next.Conf) || string(running.Backends.Body()) != "[1]" {
		t.Errorf("the running state differs from nginx's: backends %s", running.Backends.Body())
	}

	report = f.must(f.reach(next))
	if report.Reloaded || len(report.Posts) != 1 {
		t.Errorf("the next sync: %+v, want one POST and no second reload", report)
	}
	if got, want := strings.Join(f.posted, ", "), "/configuration/backends [1], /configuration/backends [2]"; got != want {
		t.Errorf("posted %s, want %s", got, want)
	}
}

func TestPostIsRetried(t *testing.T) {
	f := newFixture(t)
	f.reject.Store(2)
	report := f.must(f.reach(f.state("one", "[1]")))
	if len(report.Posts) != 1 || report.Posts[0].Bytes != len("[1]") || report.Posts[0].Took < 2*time.Millisecond {
		t.Errorf("posts: %+v, want one POST with two pauses", report.Posts)
	}
}

func TestPostEndsWithTheContext(t *testing.T) {
	f := newFixture(t)
	f.must(f.reach(f.state("one", "[1]")))
	f.reject.Store(1 << 30)
	f.target.retry = Retry(15) // would take minutes
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := f.target.Do(ctx, plan.Diff(f.target.Running(), f.state("one", "[2]"))); err == nil {
		t.Error("no error")
	}
}

func TestInvalidConfigurationChangesNothing(t *testing.T) {
	f := newFixture(t)
	good := f.state("one", "[]")
	f.must(f.reach(good))
	bad := f.state("two", "[2]")
	bad.Conf = bad.Conf.Append([]byte("nonsense;\n"))

	report, err := f.reach(bad)
	candidate := f.layout.Conf() + ".next"
	if err == nil || !strings.Contains(err.Error(), `"nonsense"`) || !strings.Contains(err.Error(), candidate) {
		t.Errorf("error %v, want one that names the directive and %s", err, candidate)
	}
	if report.Reloaded || len(report.Posts) > 0 {
		t.Errorf("report: %+v", report)
	}
	f.wantAnswer("one")
	f.wantFile(f.layout.Conf(), good.Conf.Bytes())
	f.wantFile(f.layout.LuaConfig(), good.LuaConfig)
	f.wantFile(candidate, bad.Conf.Bytes())

	f.must(f.reach(f.state("three", "[]")))
	f.wantAnswer("three")
	if _, err := os.Stat(candidate); err == nil {
		t.Errorf("%s remains", candidate)
	}
}

func TestInvalidFirstConfiguration(t *testing.T) {
	f := newFixture(t)
	bad := f.state("bad", "[]")
	bad.Conf = bad.Conf.Append([]byte("nonsense;\n"))
	report, err := f.reach(bad)
	var rejection *Rejection
	if candidate := f.layout.Conf() + ".next"; !errors.As(err, &rejection) || rejection.File != candidate || rejection.Line() != "nonsense;" {
		t.Errorf("error %v, want a rejection that names the line of %s", err, candidate)
	}
	if report.Started || report.Phases.Test == 0 {
		t.Errorf("report: %+v", report)
	}
	if _, err := os.Stat(f.layout.Conf()); err == nil {
		t.Error("the rejected configuration is in place")
	}
	report = f.must(f.reach(f.state("one", "[]")))
	f.wantAnswer("one")
	if !report.Started || report.Phases.Test != 0 {
		t.Errorf("report %+v, want a start without nginx -t", report)
	}
}

// A configuration is not rejected if nginx cannot start for another reason.
func TestFailedStartIsNoRejection(t *testing.T) {
	f := newFixture(t)
	other, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", f.port))
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	_, err = f.reach(f.state("one", "[]"))
	var rejection *Rejection
	if err == nil || errors.As(err, &rejection) || !strings.Contains(err.Error(), "in use") {
		t.Errorf("error %v, want one about the port", err)
	}
	other.Close()
	f.must(f.reach(f.state("one", "[]")))
	f.wantAnswer("one")
}

func (f *fixture) wantFile(path string, want []byte) {
	f.Helper()
	got, err := os.ReadFile(path)
	if err != nil || string(got) != string(want) {
		f.Errorf("%s contains %q (%v), want %q", path, got, err, want)
	}
}

func TestEnded(t *testing.T) {
	f := newFixture(t)
	f.must(f.reach(f.state("one", "[]")))
	select {
	case <-f.target.Ended():
		t.Fatal("nginx is reported as ended while it runs")
	default:
	}
	if err := f.target.Quit(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-f.target.Ended()
	if _, err := f.reach(f.state("two", "[]")); err == nil {
		t.Error("no error for a reload of an nginx that has ended")
	}
}
