package calibrate

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/docs"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/measure/measuretest"
	"windtunnel.dev/sim/predict/costs"
	"windtunnel.dev/sim/predict/question"
	"windtunnel.dev/sim/predict/simulate"
	"windtunnel.dev/sim/rundir"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

// run returns a run with two syncs: a POST that two changes wait for, and a reload for a new host.
func run(t *testing.T) Run {
	t.Helper()
	q := question.New()
	for name, value := range map[string]string{
		"ingresses": "100", "services": "200", "endpoints": "400", "worker-processes": "2", "rolling-update": "1/s", "post": "50/s", "http": "50/s",
		"for": "10s", "sync-rate-limit": "1",
	} {
		if err := q.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	in, err := q.Input(2)
	if err != nil {
		t.Fatal(err)
	}
	r := Run{Folder: "folder", Scenario: "made-up", Subject: "bundled", Question: q, Input: in, ControllerMemory: 60}
	add := func(at time.Duration, e event.Event) {
		e.At = at
		r.events = append(r.events, e)
	}
	change := func(at time.Duration, id int, step, service string) {
		add(at, event.Event{Change: &event.Change{ID: id, Step: step, Service: service}})
		add(at+2*ms, event.Event{Written: &event.Written{Change: id}})
	}
	add(0, event.Event{Sync: &event.Sync{Took: 500 * ms, Phases: &event.Phases{Render: 9 * s}}}) // before the round
	add(s, event.Event{Phase: &event.Phase{Name: event.RoundBegin}})
	add(s, event.Event{Usage: &event.Usage{NginxPSS: 50 << 20, Workers: 2, Generations: 1}})
	change(2*s, 1, "rolling-update", "a")
	change(2100*ms, 2, "rolling-update", "b")
	add(2510*ms, event.Event{Sync: &event.Sync{Took: 10 * ms, Posts: []event.Post{{Path: "/configuration/backends", Bytes: 1 << 20, Took: 4 * ms}}}})
	change(5*s, 3, "new-hosts", "c")
	add(5303*ms, event.Event{Sync: &event.Sync{Took: 300 * ms, Reload: true, Phases: &event.Phases{Render: 20 * ms, Test: 40 * ms, Signal: 50 * ms, FirstWorker: 60 * ms}}})
	add(5300*ms, event.Event{Worker: &event.Worker{PID: 7, State: event.Draining}})
	add(5330*ms, event.Event{Worker: &event.Worker{PID: 7, State: event.Exited}})
	add(5300*ms, event.Event{Usage: &event.Usage{NginxPSS: 90 << 20, Workers: 4, Generations: 2}})
	add(5301*ms, event.Event{Usage: &event.Usage{NginxPSS: 80 << 20, Workers: 4, Generations: 2}})
	r.changes = []measure.Served{{ID: 1, Fate: measure.Converged, Legs: measure.Legs{Spread: 30 * ms}}}
	r.Result = measure.Subject{Reloads: 1, Lanes: []measure.Lane{
		{Name: "post", Requests: measure.Requests{Causes: map[string]int{string(event.Reset): 2, string(event.NginxError): 5}}},
		{Name: "http", Requests: measure.Requests{Causes: map[string]int{string(event.Reset): 9}}},
	}}
	return r
}

// Each observation has the size that the cluster had then.
func TestObservations(t *testing.T) {
	got := map[simulate.Name][]costs.Observation{}
	for _, o := range Observations([]Run{run(t)}) {
		got[o.Of[0].Cost] = append(got[o.Of[0].Cost], o)
	}
	for cost, want := range map[simulate.Name]struct {
		value    float64
		term     simulate.Term
		size     float64
		observed int
	}{
		simulate.Update:       {0.006, simulate.PerIngress, 100, 1},
		simulate.Post:         {0.004, simulate.PerMiB, 1, 1},
		simulate.List:         {1, simulate.PerService, 200, 1},
		simulate.Notice:       {0.003, simulate.Fixed, 1, 1},
		simulate.Render:       {0.02, simulate.PerIngress, 101, 1},
		simulate.Test:         {0.04, simulate.PerEndpoint, 0, 1}, // nginx.conf has none
		simulate.Signal:       {0.05, simulate.PerIngress, 101, 1},
		simulate.Start:        {0.06, simulate.PerIngress, 101, 1},
		simulate.Handover:     {0.13, simulate.PerWorker, 2, 1},
		simulate.Drain:        {0.03, simulate.Fixed, 1, 1},
		simulate.Stagger:      {0.03, simulate.Fixed, 1, 1},
		simulate.Master:       {50, simulate.PerEndpoint, 400, 2},
		simulate.Controller:   {60, simulate.PerEndpoint, 400, 1},
		simulate.LostByReload: {2, simulate.Fixed, 50, 1},
	} {
		name, all := simulate.Table[cost].Name, got[cost]
		if len(all) != want.observed {
			t.Errorf("%s: %d observations, want %d", name, len(all), want.observed)
			continue
		}
		if o := all[0]; o.Value < 0.999*want.value || o.Value > 1.001*want.value || o.Of[0].Size[want.term] != want.size {
			t.Errorf("%s: %v with %v, want %v with %v", name, o.Value, o.Of[0].Size, want.value, want.size)
		}
	}
	if two := got[simulate.Master]; len(two) == 2 && (two[1].Value != 90 || two[1].Of[2].Size[simulate.Fixed] != 4 || two[1].Of[1].Size[simulate.PerIngress] != 2*101) {
		t.Errorf("two generations: %+v", two[1])
	}
}

// Later observations count the pods that a scale-out has added; a replaced pod counts once.
func TestScaledOut(t *testing.T) {
	r := run(t)
	for i := range r.events {
		if c := r.events[i].Change; c != nil {
			c.Added = []string{"new-1", "new-2", "new-3"}
			if c.ID == 2 {
				c.Added, c.Removed = []string{"new"}, []string{"old"}
			}
			if c.ID == 3 {
				c.Added = nil
			}
		}
	}
	for _, o := range Observations([]Run{r}) {
		if cost := o.Of[0].Cost; (cost == simulate.Update || cost == simulate.List || cost == simulate.Controller) && o.Of[0].Size[simulate.PerEndpoint] != 403 {
			t.Errorf("%s is of %v endpoints, want 403", simulate.Table[cost].Name, o.Of[0].Size[simulate.PerEndpoint])
		}
	}
}

// The range of parameters is that of the runs that they were fitted from.
func TestFit(t *testing.T) {
	small, large := run(t), run(t)
	large.Input.Cluster.Ingresses = 700
	p, err := Fit([]Run{small, large}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Range["ingresses"]; got != (costs.Interval{Low: 100, High: 700}) {
		t.Errorf("ingresses: %+v", got)
	}
	large.Input.Processors = 8
	if _, err := Fit([]Run{small, large}, 1); err == nil || !strings.Contains(err.Error(), "use runs of one machine") {
		t.Errorf("runs of two machines: %v", err)
	}
	if _, err := Fit(nil, 1); err == nil {
		t.Error("no runs were fitted")
	}
}

// The error of a prediction is a share of the measured value; a figure that a run lacks is not compared.
func TestValidate(t *testing.T) {
	p, err := costs.Parse("parameters.yaml", docs.Parameters)
	if err != nil {
		t.Fatal(err)
	}
	r := run(t)
	r.Result.Reloads = 4 // none are predicted: only endpoints change
	r.Result.Workers.Alive = 1
	r.changes = nil
	all, v := Validate([]Run{r}, p)
	if e := v.Figures["reloads"]; e.Runs != 1 || e.Median != 1 || e.Worst != 1 || e.Within != 0 {
		t.Errorf("reloads: %+v", e)
	}
	if e := v.Figures["generations"]; e.Median != 0 || e.Within != 1 {
		t.Errorf("generations: %+v", e)
	}
	if _, ok := v.Figures["staleness.p50"]; ok {
		t.Error("no change was made, but staleness was compared")
	}
	var page bytes.Buffer
	if err := Markdown(&page, all, v); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1 run of 1 scenario, with 100 ingresses", "| reloads | 1 | 100 % | 100 % | 0 % | not predictable |", "| made-up | 100 | 4 | 0 | 0 | 100 % |"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q:\n%s", want, page.String())
		}
	}
}

// The staleness of a change that is not served is the time until the end of its round, as in a prediction.
func TestStaleness(t *testing.T) {
	r := run(t)
	r.events = append(r.events, event.Event{At: 20 * s, Phase: &event.Phase{Name: event.RoundEnd}}, event.Event{At: 90 * s, Phase: &event.Phase{Name: event.RoundEnd}})
	r.changes = []measure.Served{
		{At: 2 * s, Fate: measure.Converged, First: 3 * s, Last: 4 * s},
		{At: 5 * s, Fate: measure.Unconverged, First: 2 * s, Last: -1},
		{At: 8 * s, Fate: measure.Unconverged, First: -1, Last: -1},
		{At: 9 * s, Fate: measure.Failed, First: -1, Last: -1},
		{At: 9 * s, Fate: measure.Superseded, First: s, Last: -1},
	}
	first, last := r.staleness()
	if want := []time.Duration{2 * s, 3 * s, 12 * s}; !slices.Equal(first, want) {
		t.Errorf("first worker: %v, want %v", first, want)
	}
	if want := []time.Duration{4 * s, 12 * s, 15 * s}; !slices.Equal(last, want) {
		t.Errorf("every worker: %v, want %v", last, want)
	}
}

// Runs that cannot be used are reported with the reason.
func TestRead(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(folder, rundir.Events))
	if err != nil {
		t.Fatal(err)
	}
	w := event.NewLog(log, time.Now())
	for _, e := range measuretest.Log(1, 5*s) {
		w.Write(e)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		rundir.Result: "{}",
		rundir.Scenario: `apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: made-up}
spec:
  rounds: 2
  subjects: [{name: dynamic}, {name: reload}]
  population: {services: 10}
  timeline: [{at: 0s, churn: rolling-update, rate: 5/s, for: 10s}]
`,
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	runs, skipped, err := Read([]string{folder})
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 0 || len(skipped) != 2 {
		t.Fatalf("%d runs, skipped %q", len(runs), skipped)
	}
	for _, why := range skipped {
		if !strings.Contains(why, "the log does not say how many processors the machine has") && !strings.Contains(why, "is void") {
			t.Errorf("skipped: %s", why)
		}
	}
	if _, _, err := Read([]string{t.TempDir()}); err == nil {
		t.Error("a folder without a run was read")
	}
	if err := os.Remove(filepath.Join(folder, rundir.Scenario)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Read([]string{folder}); err == nil || !strings.HasPrefix(err.Error(), folder+": ") {
		t.Errorf("a run without its scenario: %v", err)
	}
	runs, skipped, err = Read([]string{filepath.Dir(folder)})
	if err != nil || len(runs) != 0 || len(skipped) != 1 || !strings.HasPrefix(skipped[0], folder+": ") {
		t.Errorf("a run without its scenario, in a folder: %d runs, skipped %q, %v", len(runs), skipped, err)
	}
}
