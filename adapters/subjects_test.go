package adapters_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"windtunnel.dev/adapters/adapterstest"
	"windtunnel.dev/internal/isolated"
	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/internal/parallel"
	"windtunnel.dev/internal/thirdparty"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/local"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
	"windtunnel.dev/sim/trial"
)

func TestMain(m *testing.M) {
	adapterstest.Main()
	os.Exit(parallel.Tests{M: m, AtOnce: 4}.Run())
}

// A stub that answers the requests itself, as Traefik and Envoy do.
func TestSingleProcess(t *testing.T) {
	checkSingle(t, rollingUpdate(t, subject.Subject{Adapter: testAdapter(t, "single"), Controller: self(t)}))
}

// A stub that serves the Gateway API: the population and its changes reach it as HTTPRoutes.
func TestGatewayAPI(t *testing.T) {
	checkSingle(t, rollingUpdate(t, subject.Subject{Adapter: testAdapter(t, "gateway"), Controller: self(t)}))
}

func TestTraefik(t *testing.T) {
	traefik := thirdparty.Program(t, "traefik")
	for _, adapter := range []string{"traefik", "traefik-ingress", "traefik-gateway"} {
		t.Run(adapter, func(t *testing.T) {
			checkSingle(t, rollingUpdate(t, subject.Subject{Adapter: adapter, Controller: traefik}))
		})
	}
}

// Two stubs beside each other: a control plane, and a proxy that follows it over xDS.
func TestProxyBesideTheController(t *testing.T) {
	checkBeside(t, rollingUpdate(t, subject.Subject{Adapter: testAdapter(t, "beside"), Controller: self(t), Nginx: stub(t, adapterstest.EnvoyStub)}))
}

// Contour is real; the Envoy that it configures is a stub.
func TestContourWithEnvoyStub(t *testing.T) {
	checkBeside(t, rollingUpdate(t, subject.Subject{Adapter: "contour", Controller: thirdparty.Program(t, "contour"), Nginx: stub(t, adapterstest.EnvoyStub)}))
}

// checkBeside checks a subject whose proxy is one process beside the controller.
func checkBeside(t *testing.T, s measure.Subject) {
	t.Helper()
	checkOneProcess(t, s)
	if s.Trend.ControllerRSS.N == 0 { // its CPU time can be less than one tick
		t.Errorf("the controller is not seen beside its proxy: %+v", s.Trend)
	}
}

// A stub of haproxy -W: its master executes itself anew on each reload.
func TestForkedProcesses(t *testing.T) {
	checkForked(t, rollingUpdate(t, subject.Subject{Adapter: testAdapter(t, "forked"), Controller: self(t), Nginx: self(t)}))
}

func TestHAProxy(t *testing.T) {
	checkForked(t, rollingUpdate(t, subject.Subject{Adapter: testAdapter(t, "forked"), Controller: self(t), Nginx: thirdparty.Program(t, "haproxy")}))
}

// Stubs of the controllers with HAProxy, under the adapters of the real ones.
func TestControllersWithHAProxy(t *testing.T) {
	for _, s := range haproxyControllers(t) {
		t.Run(s.Adapter, func(t *testing.T) {
			s.Nginx = stub(t, "haproxy")
			checkForked(t, rollingUpdate(t, s))
		})
		t.Run(s.Adapter+" and HAProxy", func(t *testing.T) {
			s.Nginx = thirdparty.Program(t, "haproxy")
			checkForked(t, rollingUpdate(t, s))
		})
	}
}

// A stub of NGINX Inc's controller, under its adapter, with a real nginx.
func TestNGINXInc(t *testing.T) {
	s := rollingUpdate(t, nginxInc(t))
	check(t, s)
	checkNginx(t, s)
	if s.Reloads < 2 || !perReload(s) {
		t.Errorf("%d reloads, workers %+v", s.Reloads, s.Workers)
	}
	for _, name := range []string{"reloads", "workers.draining", "cpu.controller"} {
		if why := s.WhyNot(name); why != "" {
			t.Errorf("%s: not applicable: %s", name, why)
		}
	}
}

// nginxInc returns the stub of NGINX Inc's controller as a subject.
func nginxInc(t *testing.T) subject.Subject {
	t.Helper()
	if testing.Short() {
		t.Skip("runs nginx; not run with -short")
	}
	needIsolation(t)
	if _, err := os.Stat(adapterstest.NGINX); err != nil {
		t.Skip("there is no nginx: ", err)
	}
	return subject.Subject{Adapter: "nginx-inc", Controller: stub(t, adapterstest.NGINXIncStub)}
}

// haproxyControllers returns the subjects that are controllers with HAProxy, without their HAProxy.
func haproxyControllers(t *testing.T) []subject.Subject {
	t.Helper()
	rootfs := t.TempDir()
	templates := filepath.Join(rootfs, "etc/templates/haproxy")
	if err := errors.Join(os.MkdirAll(templates, 0o755), os.WriteFile(filepath.Join(templates, "haproxy.tmpl"), nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	return []subject.Subject{
		{Name: "subject", Adapter: "haproxy-ingress", Controller: stub(t, adapterstest.HAProxyIngressStub), Template: rootfs},
		{Name: "subject", Adapter: "haproxytech", Controller: stub(t, adapterstest.HAProxyTechStub)},
	}
}

// A stub of the controller, with a real nginx.
func TestNGINXGatewayFabric(t *testing.T) {
	if err := isolated.Allowed(); err != nil {
		t.Skip(err)
	}
	program, _ := nginxtest.Find(t)
	checkReloads(t, rollingUpdate(t, subject.Subject{Adapter: "nginx-gateway-fabric", Controller: stub(t, adapterstest.NGINXGatewayStub), Nginx: program.Binary}))
}

// rollingUpdate replaces pods under traffic, and returns what was measured.
func rollingUpdate(t *testing.T, of subject.Subject) measure.Subject {
	t.Helper()
	return rollingUpdateOn(t, local.Driver{}, of)
}

// rollingUpdateOn is rollingUpdate with any driver.
func rollingUpdateOn(t *testing.T, d driver.Driver, of subject.Subject) measure.Subject {
	t.Helper()
	s, _ := rollingUpdateWith(t, d, of, "")
	return s
}

// rollingUpdateWith is rollingUpdateOn with further steps of the timeline. It also returns the folder of
// the subject's logs.
func rollingUpdateWith(t *testing.T, d driver.Driver, of subject.Subject, steps string) (s measure.Subject, dir string) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs a scenario; not run with -short")
	}
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rolling-update.yaml")
	if err := os.WriteFile(file, fmt.Appendf(nil, `
apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: rolling-update}
spec:
  subjects: [{name: other, adapter: %q, controller: %q, nginx: %q, template: %q, lua: %q}]
  settle: 2m
  population: {services: 5, pods: 3, ingresses: 5}
  traffic: [{lane: http, rate: 20/s}]
  timeline:
  - {at: 0s, churn: rolling-update, rate: 2/s, for: 4s, drain: 5s}%s
`, of.Adapter, of.Controller, of.Nginx, of.Template, of.Lua, steps), 0o644); err != nil {
		t.Fatal(err)
	}
	loaded, err := scenario.Load(file, scenario.Known{})
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "run")
	ended := trial.Do(t.Context(), trial.Trial{Scenario: loaded, Seed: 1, Driver: d, Dir: dir})
	if ended.Err != nil || ended.Cut != nil {
		t.Fatal(ended.Err, ended.Cut)
	}
	t.Log(ended.Outcome, ended.Note()) // a slow machine makes the run void, which does not affect the checks
	return ended.Measured.Result.Subjects[0], filepath.Join(dir, "other")
}

// check checks a subject that serves every change.
func check(t *testing.T, s measure.Subject) {
	t.Helper()
	t.Logf("converged within %v (p50 %v), %d reloads, %d of %d requests failed, memory %d MiB, CPU %v",
		s.Converge.Last.Max, s.Converge.Last.P50, s.Reloads, s.Requests.Failed, s.Requests.Sent, s.Memory.PeakRSS>>20, s.CPU)
	if s.Changes.Made != 8 || s.Changes.Converged+s.Changes.Superseded != 8 || s.Converge.Last.N == 0 {
		t.Errorf("changes: %+v", s.Changes)
	}
	if s.Requests.Sent == 0 || s.Requests.Unexplained > 0 {
		t.Errorf("requests: %+v", s.Requests)
	}
	// A slow machine causes trouble as well: the run is void, or a due request is never sent.
	if s.Valid && s.Requests.Missed == 0 && len(s.Trouble) > 0 {
		t.Errorf("trouble: %q", s.Trouble)
	}
	if s.Posts.Visible {
		t.Error("POSTs are reported, but nobody told of any")
	}
	if s.Probe.Unreached > 0 || s.Memory.PeakRSS == 0 || s.CPU.Nginx == 0 {
		t.Errorf("the proxy's processes are not seen: %+v, %+v, %+v", s.Probe, s.Memory, s.CPU)
	}
}

// checkReloads checks a subject whose nginx is reloaded, and whose log reports reloads.
func checkReloads(t *testing.T, s measure.Subject) {
	t.Helper()
	check(t, s)
	checkNginx(t, s)
	if s.Reloads < 2 || !perReload(s) || s.Syncs.Count == 0 {
		t.Errorf("%d reloads, workers %+v, syncs %+v", s.Reloads, s.Workers, s.Syncs)
	}
}

// perReload reports whether each reload brought one generation. The first reload may come so early that two
// generations are alive when the measurement begins.
func perReload(s measure.Subject) bool {
	before := s.Workers.Generations - s.Reloads
	return before == 1 || before == 2
}

// checkOneProcess checks a subject whose proxy is one process.
func checkOneProcess(t *testing.T, s measure.Subject) {
	t.Helper()
	check(t, s)
	if s.Reloads != 0 || s.Workers.Generations != 1 || s.Workers.Most != 1 || s.Workers.Exited != 0 {
		t.Errorf("%d reloads, workers %+v", s.Reloads, s.Workers)
	}
	for name, applies := range map[string]bool{"reloads": false, "workers.alive": false, "posts": false, "syncs": false, "converge.last": true, "cpu.nginx": true} {
		if why := s.WhyNot(name); (why == "") != applies {
			t.Errorf("%s: not applicable: %q", name, why)
		}
	}
}

// checkSingle checks a subject that is one process.
func checkSingle(t *testing.T, s measure.Subject) {
	t.Helper()
	checkOneProcess(t, s)
	if s.CPU.Controller != 0 || s.WhyNot("cpu.controller") == "" {
		t.Errorf("the controller counts twice: %+v", s.CPU)
	}
}

// checkForked checks a subject each of whose reloads starts a process, and whose log reports reloads.
func checkForked(t *testing.T, s measure.Subject) {
	t.Helper()
	check(t, s)
	if s.Reloads < 2 || !perReload(s) || s.Workers.Crashed != 0 {
		t.Errorf("%d reloads, workers %+v", s.Reloads, s.Workers)
	}
	if s.Syncs.Count == 0 {
		t.Error("the log tells of no reload")
	}
	// On a slow machine, the end of the newest process at the end of the run may be counted as well.
	if ended := s.Workers.Exited + s.Workers.Draining; ended != s.Reloads && ended != s.Reloads+1 {
		t.Errorf("%d reloads, and %d processes finished or finish", s.Reloads, ended)
	}
}

// self returns the path of this test binary, which is the controller of testdata.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// stub returns the path of this test binary under the name of a stub.
func stub(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.Symlink(self(t), path); err != nil {
		t.Fatal(err)
	}
	return path
}

func testAdapter(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs("testdata/" + name + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return path
}
