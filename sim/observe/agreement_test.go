package observe_test

import (
	"bytes"
	"context"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/internal/built"
	"windtunnel.dev/internal/doctor"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/local"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/observe"
	"windtunnel.dev/sim/observe/notice"
	"windtunnel.dev/sim/predict/calibrate"
	"windtunnel.dev/sim/rundir"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
	"windtunnel.dev/sim/trial"
)

// story has changes with and without a reload, and removes a host, whose clients get 404 afterwards.
const story = `
apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: beside}
spec:
  subjects:
  - {name: subject, flags: {enable-metrics: "true", sync-rate-limit: "5"}}
  config: {worker-processes: "2"}
  population: {services: 2, pods: 2, ingresses: 2}
  traffic:
  - {lane: http, rate: 20/s}
  - {lane: fresh, rate: 10/s, host: gone.example}
  settle: 10s
  timeline:
  - {at: 0s, apply: gone}
  - {at: 12s, churn: rolling-update, rate: 30/m, for: 10s}
  - {at: 16s, churn: new-hosts, rate: 15/m, for: 4s}
  - {at: 24s, delete: gone}
  - {at: 24s, churn: touch, rate: 6/m, for: 10s}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: gone, namespace: demo}
spec:
  ingressClassName: nginx
  rules:
  - host: gone.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: svc-000, port: {number: 80}}}}]}
`

// spy is a driver whose instance others can reach.
type spy struct {
	driver.Driver
	made chan driver.Instance
}

func (s spy) Prepare(ctx context.Context, subject subject.Subject, in driver.Options) (driver.Instance, error) {
	i, err := s.Driver.Prepare(ctx, subject, in)
	if err == nil {
		s.made <- i
	}
	return i, err
}

// beside runs the story and observes its controller meanwhile. It returns the measurements of both.
func beside(t *testing.T, controller string) (harness, observed measure.Subject, folder rundir.Dir) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "beside.yaml")
	if err := os.WriteFile(file, []byte(story), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Load(file, scenario.Known{})
	if err != nil {
		t.Fatal(err)
	}
	d := spy{local.Driver{Bundled: controller}, make(chan driver.Instance, 1)}
	begun, ended, over := make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
	see := func(e event.Event) {
		if e.Phase == nil {
			return
		}
		switch e.Phase.Name {
		case event.RoundBegin:
			begun <- struct{}{}
		case event.RoundEnd:
			ended <- struct{}{}
			select {
			case <-over: // the controller must not end before the observation
			case <-t.Context().Done():
			}
		}
	}
	run := make(chan trial.Result, 1)
	go func() {
		run <- trial.Do(t.Context(), trial.Trial{Scenario: s, Seed: 1, Driver: d, Dir: filepath.Join(t.TempDir(), "run"), Watch: func(*scenario.Scenario) (func(event.Event), func()) { return see, func() {} }})
	}()
	select {
	case <-begun:
	case r := <-run:
		t.Fatalf("the run: %s: %s", r.Outcome, r.Note())
	}
	i := <-d.made
	awaitHost(t, i.Address().String(), "gone.example")
	health, err := url.Parse(i.Setup().Health[0].URL)
	if err != nil {
		t.Fatal(err)
	}
	awaitLoads(t, "http://"+health.Host+"/metrics", 2) // the start, and the first change
	ctx, stop := context.WithCancel(t.Context())
	go func() { <-ended; stop() }()
	var printed bytes.Buffer
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		observe.Inside(ctx, &printed, i.Setup().Processes, i.(interface{ Controller() int }).Controller())
	}()
	dir, got, err := observe.Observe(ctx, observe.Options{
		API: i.API(), MetricsURLs: []string{"http://" + health.Host + "/metrics"}, Every: 250 * time.Millisecond, HTTP: i.Address(),
		Hosts: []notice.Host{{Name: "svc-000.demo.example"}, {Name: "svc-001.demo.example"}, {Name: "gone.example"}}, Lanes: []string{"http"}, Rate: 30, ProbeRate: 100, Bundled: true,
		Dir: filepath.Join(t.TempDir(), "observed"),
	})
	if err != nil {
		t.Fatal(err)
	}
	<-looked
	close(over)
	checkInside(t, printed.Bytes(), got.Result.Subjects[0].Reloads)
	ran := <-run
	if len(ran.Measured.Result.Subjects) == 0 {
		t.Fatalf("the run: %s: %s", ran.Outcome, ran.Note())
	}
	return ran.Measured.Result.Subjects[0], got.Result.Subjects[0], dir
}

// checkInside checks that the output of Inside has a generation of workers for each reload.
func checkInside(t *testing.T, printed []byte, reloads int) {
	t.Helper()
	generations := map[int]bool{}
	memory := int64(0)
	for e, err := range event.Read(bytes.NewReader(printed)) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.Worker != nil:
			generations[e.Worker.Generation] = true
		case e.Usage != nil && len(e.Usage.ByGeneration) > 0:
			memory = max(memory, e.Usage.ByGeneration[0].RSS)
		}
	}
	t.Logf("inside: %d generations, %d bytes", len(generations), memory)
	if memory == 0 || len(generations) < 1+reloads { // a slow machine may split one
		t.Errorf("%d generations with %d bytes were seen in the pod, and %d reloads from outside", len(generations), memory, reloads)
	}
}

// awaitHost waits until a host is served.
func awaitHost(t *testing.T, address, host string) {
	t.Helper()
	await(t, "http://"+address, host, func(response *http.Response) bool { return response.StatusCode == http.StatusOK })
}

// awaitLoads waits until the controller has counted that many loads of nginx's configuration, shortly
// after workers have the last one.
func awaitLoads(t *testing.T, metrics string, want int) {
	t.Helper()
	await(t, metrics, "", func(response *http.Response) bool {
		sample, err := notice.ParseMetrics(response.Body, time.Now())
		return err == nil && sample.Scrape.Reloads != nil && sample.Scrape.Reloads.Loaded >= want
	})
}

// await asks for a page until the response is ok. The host may differ from that of the address.
func await(t *testing.T, address, host string, ok func(*http.Response) bool) {
	t.Helper()
	for began := time.Now(); time.Since(began) < 30*time.Second; time.Sleep(20 * time.Millisecond) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Host = host
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			continue
		}
		good := ok(response)
		response.Body.Close()
		if good {
			return
		}
	}
	t.Fatalf("%s %s has no expected response within 30s", address, host)
}

// An observation agrees with the harness's own record of the same time.
func TestAgreement(t *testing.T) {
	if testing.Short() {
		t.Skip("needs nginx; not run with -short")
	}
	if err := doctor.Fit(); err != nil {
		t.Skip("no controller can run on this machine: ", err)
	}
	controller := built.Command(t, "nginx-ingress-controller")
	for range 3 {
		h, o, dir := beside(t, controller)
		checkFolder(t, dir, o)
		t.Logf("harness: %+v, %d reloads, %v, last convergence %v", h.Changes, h.Reloads, h.Requests.Causes, h.Converge.Last)
		t.Logf("observed: %+v, %d reloads, %v, last convergence %v", o.Changes, o.Reloads, o.Requests.Causes, o.Converge.Last)
		checkChanges(t, h, o)
		if !h.Valid || !o.Valid {
			t.Logf("void: the harness %q, the observation %q", h.Invalid, o.Invalid)
			continue
		}
		checkCounts(t, h, o)
		checkTimes(t, h, o)
		return
	}
	t.Skip("the machine is too slow: void three times")
}

// checkChanges compares the number of changes, which does not depend on the load of the machine. The
// first change came before the observation.
func checkChanges(t *testing.T, h, o measure.Subject) {
	t.Helper()
	if h.Changes.Made < 5 || o.Changes.Made != h.Changes.Made-1-touches {
		t.Errorf("%d changes observed, %d made", o.Changes.Made, h.Changes.Made)
	}
}

// checkCounts compares the other counts. The reload of the first change came before the observation.
func checkCounts(t *testing.T, h, o measure.Subject) {
	t.Helper()
	if h.Reloads < 2 || o.Reloads != h.Reloads-1 || o.Reported.Reloads != o.Reloads {
		t.Errorf("%d reloads observed, the harness saw %d", o.Reloads, h.Reloads)
	}
	if _, ok := h.Requests.Causes["not-found"]; !ok || len(h.Requests.Causes) != len(o.Requests.Causes) {
		t.Errorf("requests failed by %v, in the harness by %v", o.Requests.Causes, h.Requests.Causes)
	}
	// Both send ten requests a second to the host, but the observation at random times.
	if off := float64(o.Requests.Failed) / float64(h.Requests.Failed); off < 0.6 || off > 1.5 {
		t.Errorf("%d requests failed, in the harness %d", o.Requests.Failed, h.Requests.Failed)
	}
	for _, unseen := range []string{"workers.alive", "posts.count", "converge.way.sync"} {
		if o.WhyNot(unseen) == "" {
			t.Errorf("the observation claims to see %s", unseen)
		}
	}
}

// touches is how often the story writes an object without a relevant change. An observer does not count these.
const touches = 1

func checkTimes(t *testing.T, h, o measure.Subject) {
	t.Helper()
	// The clock of an observed change starts a little later, and any worker may answer, so it can take a
	// while until the last one to serve the change is noticed.
	near := 250*time.Millisecond + o.Converge.Granularity.P99
	if off := (o.Converge.Last.P50 - h.Converge.Last.P50).Abs(); o.Converge.Last.N < 3 || off > near {
		t.Errorf("last convergence %+v observed, %+v in the harness", o.Converge.Last, h.Converge.Last)
	}
	if ratio := float64(o.Memory.PeakRSS) / float64(h.Memory.PeakRSS); ratio < 0.5 || ratio > 1.1 {
		t.Errorf("peak memory %d observed, %d in the harness", o.Memory.PeakRSS, h.Memory.PeakRSS)
	}
}

// checkFolder checks that the readers of run folders can read the folder of an observation.
func checkFolder(t *testing.T, dir rundir.Dir, o measure.Subject) {
	t.Helper()
	s, err := scenario.Load(dir.File(rundir.Scenario), scenario.Known{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := dir.Measure(s)
	if err != nil {
		t.Fatal(err)
	}
	if got := again.Result.Subjects[0]; got.Reloads != o.Reloads || got.Changes != o.Changes {
		t.Errorf("measured again: %d reloads, %+v", got.Reloads, got.Changes)
	}
	if s.Population.Services != 2 || s.Population.Pods != 2 {
		t.Errorf("the scenario has %+v", s.Population)
	}
	runs, skipped, err := calibrate.Read([]string{string(dir)})
	if err != nil {
		t.Fatal(err)
	}
	if len(runs)+len(skipped) != 1 || len(skipped) == 1 && !strings.Contains(skipped[0], "processors") && !strings.Contains(skipped[0], "void") {
		t.Errorf("calibrate: %d runs, skipped %q", len(runs), skipped)
	}
}
