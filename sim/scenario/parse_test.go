package scenario_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/sim/scenario"
)

// known replaces the names and checks of other packages. Its errors have several lines, like CEL's.
var known = scenario.Known{
	Lanes:        []string{"http", "post", "tcp", "upload"},
	StreamLanes:  []string{"tcp"},
	LastingLanes: []string{"tcp", "upload"},
	SizedLanes:   []string{"upload"},
	Keys: scenario.Keys{
		Config: []string{"worker-processes", "keep-alive", "keep-alive-requests"}, ConfigMap: "ingress-nginx/ingress-nginx-controller",
		Annotations: []string{"nginx.ingress.kubernetes.io/canary-weight", "nginx.ingress.kubernetes.io/limit-rps", "nginx.ingress.kubernetes.io/rewrite-target"},
	},
	CheckExpression: func(expression string) error {
		if strings.Contains(expression, "relods") {
			return fmt.Errorf("expectation %q: undeclared reference to 'relods'\n | %s\n | ^", expression, expression)
		}
		return nil
	},
}

func TestAbout(t *testing.T) {
	known := known
	known.CheckMeasurement = func(name string) error {
		if name != "reloads" {
			return errors.New("there is no measurement " + name)
		}
		return nil
	}
	text := strings.Replace(good, "spec:\n", "spec:\n  about: [reloads, relods]\n", 1)
	if _, err := scenario.Parse("story.yaml", []byte(text), known); err == nil || !strings.Contains(err.Error(), ": about: there is no measurement relods; windtunnel list measurements lists them") {
		t.Errorf("error %v", err)
	}
}

// TestBadFiles has a file for each kind of mistake, with the messages that its author sees.
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
			s, err := scenario.Parse("bad.yaml", archive.Files[0].Data, known)
			if err == nil {
				t.Fatalf("no error, parsed %+v", s)
			}
			archive.Files[1].Data = []byte(err.Error() + "\n")
			golden.Check(t, path, txtar.Format(archive))
		})
	}
}

const good = `
# A comment before the document.
apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: good}
spec:
  summary: Everything a file can say.
  subjects:
  - {name: dynamic, expect: [reloads == 0]}
  - {name: reload, flags: {dynamic-configuration: false}, config: {worker-processes: 4}}
  rounds: 2
  config: {worker-processes: "2"}
  population: {services: 3}
  traffic:
  - {lane: post, rate: 30/m}
  - {lane: http, rate: 1.5/s, host: demo.example, arrivals: poisson, ramp: {to: 6/s, over: 10s}, sine: {by: 1/s, every: 2s}}
  timeline:
  - {at: 4s, apply: web-20}
  - {at: 1s, churn: rolling-update, rate: 5/s, for: 2s, drain: 5s}
  - {at: 2s, apply: web}
  - {at: 4s, delete: web}
  - {at: 5s, apply: custom}
  expect:
  - converge.last.max < duration("2s")
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: demo}
spec:
  ports:
  - port: 80
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: demo}
---
# the same ingress later on
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: web
  namespace: demo
  annotations: {windtunnel.dev/manifest: web-20, nginx.ingress.kubernetes.io/canary-weight: "20"}
---
apiVersion: example.com/v1
kind: Custom
metadata: {name: custom}
anything: [goes, 1, 1.5, true]
`

func TestParse(t *testing.T) {
	s, err := scenario.Parse("good.yaml", []byte(good), known)
	if err != nil {
		t.Fatal(err)
	}
	want := scenario.Spec{
		Summary: "Everything a file can say.",
		Seed:    1,
		Subjects: []scenario.Subject{
			{Name: "dynamic", Controller: "bundled", Expect: []scenario.Expectation{{Expression: "reloads == 0", Line: 9}}, Line: 9},
			{Name: "reload", Controller: "bundled", Flags: map[string]string{"dynamic-configuration": "false"},
				Config: map[string]string{"worker-processes": "4"}, Line: 10},
		},
		Rounds: 2,
		Settle: 20 * time.Second, Granularity: 250 * time.Millisecond,
		Config:     map[string]string{"worker-processes": "2"},
		Population: scenario.Population{Namespace: "demo", Services: 3, Pods: 1, Ingresses: 3},
		Traffic: []scenario.Traffic{
			{Lane: "post", Rate: 0.5, Line: 15},
			{Lane: "http", Rate: 1.5, Host: "demo.example", Line: 16, Arrivals: scenario.Poisson,
				Ramp: &scenario.Ramp{To: 6, Over: 10 * time.Second}, Sine: &scenario.Sine{By: 1, Every: 2 * time.Second}},
		},
		Timeline: []scenario.Step{ // by time
			{At: time.Second, Churn: "rolling-update", Rate: 5, For: 2 * time.Second, Drain: new(5 * time.Second), Line: 19},
			{At: 2 * time.Second, Apply: "web", Line: 20},
			{At: 4 * time.Second, Apply: "web-20", Line: 18},
			{At: 4 * time.Second, Delete: "web", Line: 21},
			{At: 5 * time.Second, Apply: "custom", Line: 22},
		},
		Expect: []scenario.Expectation{{Expression: `converge.last.max < duration("2s")`, Line: 24}},
	}
	if diff := cmp.Diff(want, s.Spec); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if s.Name != "good" || s.File != "good.yaml" {
		t.Errorf("name %q, file %q", s.Name, s.File)
	}
	if got := s.Length(); got != 5*time.Second {
		t.Errorf("the timeline lasts %v, want 5s", got)
	}
	if diff := cmp.Diff([]string{"http", "post"}, s.Lanes()); diff != "" {
		t.Errorf("lanes, -want +got:\n%s", diff)
	}
}

func TestManifests(t *testing.T) {
	s, err := scenario.Parse("good.yaml", []byte(good), known)
	if err != nil {
		t.Fatal(err)
	}
	web := s.Named("web")
	if len(web) != 2 || web[0].Object.GetKind() != "Service" || web[1].Object.GetKind() != "Ingress" {
		t.Fatalf("the manifests of web are %v, want the service, then the ingress", web)
	}
	if web[0].Line != 26 {
		t.Errorf("the service is at line %d, want 26", web[0].Line)
	}
	later := s.Named("web-20")
	if len(later) != 1 || later[0].Object.GetName() != "web" {
		t.Fatalf("the manifests of web-20 are %v, want a version of the ingress web", later)
	}
	want := map[string]string{"nginx.ingress.kubernetes.io/canary-weight": "20"}
	if diff := cmp.Diff(want, later[0].Object.GetAnnotations()); diff != "" {
		t.Errorf("annotations, -want +got:\n%s", diff)
	}
}

func TestMinimalScenario(t *testing.T) {
	s, err := scenario.Parse("x", []byte("{apiVersion: windtunnel.dev/v1, kind: Scenario, metadata: {name: x}}"), known)
	if err != nil {
		t.Fatal(err)
	}
	want := scenario.Spec{Seed: 1, Rounds: 1, Settle: 20 * time.Second, Granularity: 250 * time.Millisecond, Subjects: []scenario.Subject{{Name: "bundled", Controller: "bundled"}}}
	if diff := cmp.Diff(want, s.Spec, ignoreLines); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestShippedScenariosAreValid parses every scenario of the repository.
func TestShippedScenariosAreValid(t *testing.T) {
	paths, err := filepath.Glob("../../scenarios/*/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal("no scenarios", err)
	}
	for _, path := range paths {
		s, err := scenario.Load(path, scenario.Known{})
		if err != nil {
			t.Error(err)
			continue
		}
		if want := strings.TrimSuffix(filepath.Base(path), ".yaml"); s.Name != want {
			t.Errorf("%s has scenario %s; a file must be named after its scenario", path, s.Name)
		}
	}
}

// TestReferenceExample checks that the first example of the reference is valid.
func TestReferenceExample(t *testing.T) {
	text, err := os.ReadFile("../../docs/scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	example, _, _ := strings.Cut(rest, "```")
	if _, err := scenario.Parse("docs/scenarios.md", []byte(example), known); err != nil {
		t.Error(err)
	}
}

// TestReferenceIsComplete checks that the reference has every field of the format.
func TestReferenceIsComplete(t *testing.T) {
	text, err := os.ReadFile("../../docs/scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []any{scenario.Spec{}, scenario.Subject{}, scenario.Population{}, scenario.Traffic{}, scenario.Step{}, scenario.Comparison{}} {
		for field := range reflect.TypeOf(part).Fields() {
			name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
			if name != "-" && !strings.Contains(string(text), "\n| `"+name+"` |") {
				t.Errorf("docs/scenarios.md lacks a row for %s of %T", name, part)
			}
		}
	}
}

func TestProblemsAreValues(t *testing.T) {
	_, err := scenario.Parse("x.yaml", []byte("kind: Pod"), known)
	var problem scenario.Problem
	if !errors.As(err, &problem) || problem.File != "x.yaml" || problem.Line != 1 {
		t.Errorf("got %#v, want a problem at x.yaml:1", err)
	}
}

func TestLoadOfAMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing.yaml")
	if _, err := scenario.Load(path, known); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error with the path", err)
	}
}

var ignoreLines = cmp.Options{
	cmpopts.IgnoreFields(scenario.Subject{}, "Line"),
	cmpopts.IgnoreFields(scenario.Traffic{}, "Line"),
	cmpopts.IgnoreFields(scenario.Population{}, "Line"),
	cmpopts.IgnoreFields(scenario.Step{}, "Line"),
	cmpopts.IgnoreFields(scenario.Expectation{}, "Line"),
	cmpopts.IgnoreFields(scenario.Manifest{}, "Line"),
	cmpopts.EquateEmpty(),
}

// FuzzParse checks two properties of Parse: no file makes it panic or report a problem on several
// lines, and Marshal and Parse turn an accepted scenario into the same scenario.
func FuzzParse(f *testing.F) {
	f.Add([]byte(good))
	bad, err := filepath.Glob("testdata/bad/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range bad {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := scenario.Parse("x.yaml", data, known)
		if err != nil {
			for _, line := range strings.Split(err.Error(), "\n") {
				if !strings.HasPrefix(line, "x.yaml:") {
					t.Errorf("a line without a location: %q", line)
				}
			}
			return
		}
		written, err := s.Marshal()
		if err != nil {
			t.Fatal(err)
		}
		again, err := scenario.Parse("x.yaml", written, known)
		if err != nil {
			t.Fatalf("the marshaled file does not parse: %v\n%s", err, written)
		}
		if diff := cmp.Diff(s, again, ignoreLines); diff != "" {
			t.Errorf("parsed again, -first +second:\n%s\n%s", diff, written)
		}
	})
}
