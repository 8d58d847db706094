package question_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/sim/predict/question"
	"windtunnel.dev/sim/predict/simulate"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/subject"
)

// TestBadFiles checks the messages about each kind of mistake.
func TestBadFiles(t *testing.T) {
	paths, err := filepath.Glob("testdata/bad/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatal("no bad files", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			q, err := question.Parse("bad.yaml", archive.Files[0].Data)
			if err == nil {
				t.Fatalf("no error, parsed %+v", q)
			}
			archive.Files[1].Data = []byte(err.Error() + "\n")
			golden.Check(t, path, txtar.Format(archive))
		})
	}
}

const good = `
apiVersion: windtunnel.dev/v1
kind: Question
metadata: {name: good}
spec:
  summary: Everything that a file can say.
  seed: 3
  runs: 5
  cluster: {ingresses: 1000, services: 500, endpoints: 2000}
  processors: 4
  flags: {sync-rate-limit: 1, dynamic-sync-rate-limit: "5", dynamic-configuration: true, backends-sync: push, backends-delta: "true"}
  config: {worker-processes: 8, worker-shutdown-timeout: 10s}
  changes:
  - {kind: rolling-update, rate: 300/m, arrivals: poisson, at: 1s, for: 5s, drain: 0s}
  - {kind: edit, rate: 1/m}
  traffic:
  - {lane: post, rate: 10/s}
  - {lane: http, rate: 20/s}
  - {lane: websocket, rate: 1/s}
  - {lane: fresh, rate: 2/s}
  for: 30s
  settle: 5s
  sweep: {worker-processes: [1, auto], sync-rate-limit: [0.3, 1]}
  where: [p99 staleness < 3s]
`

func TestGoodFile(t *testing.T) {
	q, err := question.Parse("good.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	in, err := q.Input(2)
	if err != nil {
		t.Fatal(err)
	}
	want := simulate.Input{
		Cluster: simulate.Cluster{Ingresses: 1000, Services: 500, Endpoints: 2000},
		Settings: simulate.Settings{
			SyncRate: 1, DynamicSyncRate: 5, Dynamic: true, Push: true, Delta: true, Workers: 8, ShutdownTimeout: 10 * time.Second,
		},
		Processors: 4,
		Changes: []simulate.Stream{
			{Kind: simulate.RollingUpdate, Rate: 5, At: time.Second, For: 5 * time.Second, Poisson: true},
			{Kind: simulate.Edit, Rate: 1.0 / 60, For: 30 * time.Second, Drain: 5 * time.Second},
		},
		Traffic: []simulate.Lane{{Rate: 10}, {Rate: 20, Repeats: true}, {Rate: 1, Last: 2 * time.Second}, {Rate: 2, New: true}},
		For:     30 * time.Second, Settle: 5 * time.Second,
	}
	if diff := cmp.Diff(want, in); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	points, err := q.Points()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range points {
		in, err := p.Spec.Input(2)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, p.Values["sync-rate-limit"]+" "+p.Values["worker-processes"])
		if in.Settings.Workers != map[string]int{"1": 1, "auto": 4}[p.Values["worker-processes"]] {
			t.Errorf("%v: %d workers", p.Values, in.Settings.Workers)
		}
	}
	if want := []string{"0.3 1", "0.3 auto", "1 1", "1 auto"}; !cmp.Equal(got, want) {
		t.Errorf("points %q, want %q", got, want)
	}
}

// Values that are valid alone, but not together, are an error.
func TestPointsThatMakeNoChange(t *testing.T) {
	q := question.New()
	for name, value := range map[string]string{"for": "1h", "rolling-update": "5/h"} {
		if err := q.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	q.Sweep = map[string][]string{"for": {"1h", "10m"}, "rolling-update": {"5/h", "1/h"}}
	if err := q.Check(); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Points(); err == nil || !strings.Contains(err.Error(), "map[for:10m rolling-update:1/h]: a rate that makes no change in 10m0s") {
		t.Errorf("got %v", err)
	}
}

// A question with only the required fields has the defaults of ingress-nginx.
func TestDefaults(t *testing.T) {
	q, err := question.Parse("small.yaml", []byte(`
apiVersion: windtunnel.dev/v1
kind: Question
metadata: {name: small}
spec:
  cluster: {ingresses: 7}
  changes: [{kind: rolling-update, rate: 1/s}]
`))
	if err != nil {
		t.Fatal(err)
	}
	in, err := q.Input(2)
	if err != nil {
		t.Fatal(err)
	}
	want := simulate.Input{
		Cluster:    simulate.Cluster{Ingresses: 7, Services: 7, Endpoints: 7},
		Settings:   simulate.Settings{SyncRate: 0.3, Dynamic: true, Workers: 2, ShutdownTimeout: 240 * time.Second},
		Processors: 2, For: 10 * time.Minute, Settle: time.Hour,
		Changes: []simulate.Stream{{Kind: simulate.RollingUpdate, Rate: 1, For: 10 * time.Minute, Drain: 5 * time.Second}},
	}
	if diff := cmp.Diff(want, in); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Set changes a copy of lists and maps, so that points of a sweep do not affect each other.
func TestSet(t *testing.T) {
	q := question.New()
	for name, value := range map[string]string{
		"ingresses": "20", "endpoints": "60", "sync-rate-limit": "2", "worker-processes": "3", "rolling-update": "5/s", "http": "10/s", "for": "1m",
	} {
		if err := q.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	before := q.Spec
	if err := q.Set("rolling-update", "7/s"); err != nil {
		t.Fatal(err)
	}
	if err := q.Check(); err != nil {
		t.Fatal(err)
	}
	in, err := q.Input(1)
	if err != nil {
		t.Fatal(err)
	}
	if in.Cluster.Services != 20 || in.Cluster.Endpoints != 60 || in.Settings.SyncRate != 2 || in.Settings.Workers != 3 || in.Changes[0].Rate != 7 || in.Traffic[0].Rate != 10 || in.For != time.Minute {
		t.Errorf("got %+v", in)
	}
	if before.Changes[0].Rate != 5 {
		t.Error("an earlier question was changed")
	}
	for name, want := range map[string]string{"sync-rate-limt": "did you mean sync-rate-limit?", "ingresses": "want a whole number above 0", "http": "is not a rate"} {
		if err := q.Set(name, "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", name, err, want)
		}
	}
}

// Numbers that JSON cannot represent are errors, because the prediction could not be written.
func TestInfiniteLimits(t *testing.T) {
	for _, name := range []string{"sync-rate-limit", "dynamic-sync-rate-limit"} {
		q := question.New()
		for name, value := range map[string]string{"rolling-update": "1/s", name: "inf"} {
			if err := q.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		if err := q.Check(); err == nil || !strings.Contains(err.Error(), name+`: "inf"; want a number`) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The scenarios from which the committed parameters were fitted can be converted to questions. Others
// have steps that the simulation does not support, which the error names.
func TestFromScenario(t *testing.T) {
	known := map[string]bool{
		"endpoints/endpoint-churn-is-dynamic": true, "endpoints/announced-endpoints": true, "reloads/reload-storm": true,
		"reloads/generation-pileup": true, "reloads/new-host-window": true, "faults/worker-kill": false, "endpoints/blue-green-swap": false,
	}
	for name, want := range known {
		path := "../../../scenarios/" + name + ".yaml"
		if _, err := os.Stat(path); err != nil {
			t.Fatal(err)
		}
		s, err := scenario.Load(path, scenario.Known{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = question.FromScenario(s, subject.Of(s)[0])
		if want && err != nil || !want && (err == nil || !strings.Contains(err.Error(), "cannot be predicted")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The error also names settings that the simulation would ignore.
func TestFromScenarioNamesWhatIsLeftOut(t *testing.T) {
	const text = `apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: mine}
spec:
  subjects: [{name: a, webhook: true, resources: {cpu: 1}, template: fork.tmpl, lua: fork}]
  population: {services: 2, paths: 40}
  traffic: [{lane: http, rate: 1/s, ramp: {to: 9/s, over: 5s}}]
  timeline: [{at: 0s, churn: scale-out, rate: 1/s, for: 5s, pods: 4}, {at: 0s, churn: new-hosts, rate: 1/s, for: 5s, paths: 30}]
`
	s, err := scenario.Parse("mine.yaml", []byte(text), scenario.Known{})
	if err != nil {
		t.Fatal(err)
	}
	const want = "mine: cannot be predicted: 30 further paths of each new host, 4 pods with each change, 40 further paths of each ingress, " +
		"a changing rate of the lane http, a webhook, limits of resources, the Lua code in fork, the template fork.tmpl"
	if _, err := question.FromScenario(s, subject.Of(s)[0]); err == nil || err.Error() != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}
