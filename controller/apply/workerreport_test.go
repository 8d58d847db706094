package apply

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"windtunnel.dev/controller/conf"
	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/lua"
)

// withLua is a target whose nginx runs our Lua.
type withLua struct {
	*testing.T
	target  *Target
	modules []string
	layout  Layout
	status  int
	dict    string // size of the dictionary for backends
}

func newWithLua(t *testing.T) *withLua {
	t.Helper()
	program, modules := nginxtest.Find(t, "http_lua")
	f := &withLua{T: t, modules: modules, layout: Layout{Root: nginxtest.Folder(t)}, status: nginxtest.FreePorts(t, 1), dict: "5m"}
	if err := f.layout.Make(); err != nil {
		t.Fatal(err)
	}
	if err := Copy(f.layout.Lua(), lua.FS); err != nil {
		t.Fatal(err)
	}
	f.target = New(Options{
		Nginx:      program,
		Layout:     f.layout,
		StatusPort: f.status,
		Retry:      wait.Backoff{Steps: 100, Duration: 10 * time.Millisecond},
		Stderr:     t.Output(),
	})
	t.Cleanup(func() {
		if err := f.target.Quit(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return f
}

// state returns a state with two workers. more is appended to cfg.json; it begins with a comma.
func (f *withLua) state(comment, more, backends string) plan.State {
	var loads strings.Builder
	for _, module := range f.modules {
		fmt.Fprintf(&loads, "load_module %s;\n", module)
	}
	return plan.State{
		Conf: conf.Whole(fmt.Appendf(nil, `# %[5]s
daemon off;
worker_processes 2;
pid %[1]s/tmp/nginx/nginx.pid;
error_log %[1]s/var/log/nginx/error.log;
%[3]s
events {}
http {
	access_log off;
	client_body_temp_path %[1]s/tmp/nginx/body;
	proxy_temp_path %[1]s/tmp/nginx/proxy;
	fastcgi_temp_path %[1]s/tmp/nginx/fastcgi;
	uwsgi_temp_path %[1]s/tmp/nginx/uwsgi;
	scgi_temp_path %[1]s/tmp/nginx/scgi;
	lua_package_path "%[1]s/etc/nginx/lua/?.lua;;";
	lua_shared_dict luaconfig 5m;
	lua_shared_dict configuration_data %[4]s;
	lua_shared_dict certificate_data 5m;
	lua_shared_dict certificate_servers 1m;
	lua_shared_dict ocsp_response_cache 1m;
	lua_shared_dict balancer_ewma 1m;
	lua_shared_dict balancer_ewma_last_touched_at 1m;
	lua_shared_dict balancer_ewma_locks 1m;
	init_by_lua_file %[1]s/etc/nginx/lua/ngx_conf_init.lua;
	init_worker_by_lua_file %[1]s/etc/nginx/lua/ngx_conf_init_worker.lua;
	server {
		listen 127.0.0.1:%[2]d;
		location /configuration {
			client_max_body_size 100m;
			client_body_buffer_size 100m;
			content_by_lua_file %[1]s/etc/nginx/lua/nginx/ngx_conf_configuration.lua;
		}
	}
}
`, f.layout.Root, f.status, loads.String(), f.dict, comment)),
		LuaConfig: fmt.Appendf(nil, `{"listen_ports": {"status_port": "%d"}%s}`, f.status, more),
		Backends:  list(backends),
	}
}

func (f *withLua) reach(next plan.State) Report {
	f.Helper()
	report, err := f.target.Do(f.Context(), plan.Diff(f.target.Running(), next))
	if err != nil {
		f.Fatal(err)
	}
	return report
}

// awaitServing waits for all workers and returns their reports.
func (f *withLua) awaitServing() []WorkerReport {
	f.Helper()
	ctx, cancel := context.WithTimeout(f.Context(), nginxtest.Patience)
	defer cancel()
	if err := f.target.AwaitWorkers(ctx); err != nil {
		f.Fatal(err)
	}
	reports, err := f.target.WorkerReports(ctx)
	if err != nil {
		f.Fatal(err)
	}
	return reports
}

const reportWorkers = `, "report_workers": true`

func TestAwaitServingThroughChangesReloadsAndDeaths(t *testing.T) {
	f := newWithLua(t)
	f.reach(f.state("one", reportWorkers, "[]"))
	f.awaitServing()
	for _, comment := range []string{"one", "two", "three"} {
		f.reach(f.state(comment, reportWorkers, `[{"name": "`+comment+`"}]`))
		sequence := f.target.sequence.Load()
		reports, newest := f.awaitServing(), 0
		for _, s := range reports {
			newest = max(newest, s.Generation)
		}
		serving := 0
		for _, s := range reports {
			if s.Generation == newest && s.Backends == sequence && sequence > 0 {
				serving++
			}
		}
		if serving != 2 {
			t.Errorf("%s: %d workers of the newest generation serve POST %d: %+v", comment, serving, sequence, reports)
		}
	}
	workers, err := f.target.process.Workers()
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(workers[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	f.reach(f.state("three", reportWorkers, `[{"name": "four"}]`))
	f.awaitServing()
}

func TestAwaitServingFailsWithoutReports(t *testing.T) {
	f := newWithLua(t)
	if err := f.target.AwaitWorkers(t.Context()); err == nil {
		t.Error("no error before the start")
	}
	f.reach(f.state("one", "", "[]"))
	if err := f.target.AwaitWorkers(t.Context()); !errors.Is(err, ErrNoReports) {
		t.Errorf("error %v", err)
	}
}

func TestAllServe(t *testing.T) {
	worker := func(pid int) nginx.Worker { return nginx.Worker{PID: pid} }
	one, two := WorkerReport{PID: 1, Generation: 3, Workers: 2, Backends: 7}, WorkerReport{PID: 2, Generation: 3, Workers: 2, Backends: 8}
	old := WorkerReport{PID: 9, Generation: 2, Workers: 2, Backends: 8}
	for name, test := range map[string]struct {
		workers []nginx.Worker
		reports []WorkerReport
		want    bool
	}{
		"all":                       {[]nginx.Worker{worker(1), worker(2)}, []WorkerReport{one, two}, true},
		"all, one old is draining":  {[]nginx.Worker{worker(1), worker(2), {PID: 9, Draining: true}}, []WorkerReport{one, two, old}, true},
		"no workers":                {nil, nil, false},
		"one has not started":       {[]nginx.Worker{worker(1)}, []WorkerReport{one}, false},
		"one has not reported":      {[]nginx.Worker{worker(1), worker(2)}, []WorkerReport{one}, false},
		"one is behind":             {[]nginx.Worker{worker(1), worker(2)}, []WorkerReport{one, {PID: 2, Generation: 3, Workers: 2, Backends: 6}}, false},
		"an old one still accepts":  {[]nginx.Worker{worker(1), worker(2), worker(9)}, []WorkerReport{one, two, old}, false},
		"a report of a dead worker": {[]nginx.Worker{worker(1), worker(3)}, []WorkerReport{one, two}, false},
	} {
		if got := allServe(test.workers, test.reports, 7); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
