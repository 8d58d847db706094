package scenario_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/scenario"
)

const plain = `apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: plain}
spec:
`

// dump is shortened output of kubectl get -o yaml, and a list as the API returns it.
const dump = `---
apiVersion: v1
kind: List
metadata: {resourceVersion: ""}
items:
- apiVersion: v1
  kind: Service
  metadata:
    name: web
    namespace: demo
    uid: 0f7c1f0e-0b0f-4d0c-9b43-5f7f3d4c4a11
    resourceVersion: "123"
    creationTimestamp: "2024-01-01T00:00:00Z"
    annotations: {kubectl.kubernetes.io/last-applied-configuration: "{}", mine: "1"}
    managedFields: [{manager: kubectl, operation: Update}]
  spec:
    clusterIP: 10.96.0.7
    clusterIPs: [10.96.0.7]
    ports: [{port: 80, nodePort: 30080}]
    type: NodePort
  status: {loadBalancer: {}}
---
apiVersion: networking.k8s.io/v1
kind: IngressList
items:
- metadata: {name: web, namespace: demo, uid: a, generation: 3}
  status: {loadBalancer: {ingress: [{ip: 127.0.0.1}]}}
`

func TestManifestsFromListsAndDumps(t *testing.T) {
	s, err := scenario.Parse("dump.yaml", []byte(plain+"  timeline: [{at: 1s, apply: web}]\n"+dump), known)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Named("web")) != 2 {
		t.Fatalf("manifests %+v", s.Manifests)
	}
	service, ingress := s.Manifests[0], s.Manifests[1]
	if service.Line != 11 || ingress.Line != 31 || ingress.Object.GetKind() != "Ingress" || ingress.Object.GetAPIVersion() != "networking.k8s.io/v1" {
		t.Errorf("lines %d and %d, %s", service.Line, ingress.Line, ingress.Object.GroupVersionKind())
	}
	text, err := service.Object.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"apiVersion":"v1","kind":"Service","metadata":{"annotations":{"mine":"1"},"name":"web","namespace":"demo"},"spec":{"ports":[{"port":80}],"type":"NodePort"}}`
	if got := strings.TrimSpace(string(text)); got != want {
		t.Errorf("the service became\n%s\nwant\n%s", got, want)
	}
	if ingress.Object.Object["status"] != nil || ingress.Object.GetUID() != "" || ingress.Object.GetGeneration() != 0 {
		t.Errorf("the ingress became %v", ingress.Object.Object)
	}
}

// Flags of our controller must be known. Those of other controllers are not checked.
func TestUnknownFlags(t *testing.T) {
	const file = plain + `  subjects:
  - {name: ours, flags: {sync-rate-limt: "1", v: "2"}}
  - {name: theirs, controller: "image:example.com/controller:v1", flags: {their-flag: "2"}}
  expect: [reloads == 0]
  control:
    what: Nothing.
    flags: {v: "3", reload: "no"}
    fails: [reloads == 0]
`
	with := known
	with.Keys.Flags = []string{"sync-rate-limit", "v"}
	_, err := scenario.Parse("f.yaml", []byte(file), with)
	const want = `f.yaml:6: unknown flag sync-rate-limt; did you mean sync-rate-limit? (docs/flags.md lists the flags)
f.yaml:11: unknown flag reload; docs/flags.md lists the flags`
	if fmt.Sprint(err) != want {
		t.Errorf("error:\n%v\nwant:\n%s", err, want)
	}
	with.Keys.Other = true
	if _, err := scenario.Parse("f.yaml", []byte(file), with); err != nil {
		t.Errorf("another controller: %v", err)
	}
}

// Other controllers may have keys that ours does not have.
func TestUnknownKeysOfOtherControllersAreWarnings(t *testing.T) {
	const file = plain + `  config: {keep-aliv: "1"}
  subjects:
  - {name: theirs, controller: "image:example.com/controller:v1", config: {their-key: "2"}}
  timeline: [{at: 0s, apply: web}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, annotations: {nginx.ingress.kubernetes.io/limt-rps: "5"}}
`
	s, err := scenario.Parse("f.yaml", []byte(file), known)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range s.Warnings {
		got = append(got, w.Error())
	}
	want := []string{
		"f.yaml:5: unknown ConfigMap key keep-aliv, which the bundled controller would ignore; did you mean keep-alive? (docs/configmap.md lists the keys)",
		"f.yaml:7: unknown ConfigMap key their-key, which the bundled controller would ignore; docs/configmap.md lists the keys",
		"f.yaml:12: unknown annotation nginx.ingress.kubernetes.io/limt-rps, which the bundled controller would ignore; did you mean nginx.ingress.kubernetes.io/limit-rps? (docs/annotations.md lists them)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("warnings:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	other := known
	other.Keys.Other = true
	if s, err = scenario.Parse("f.yaml", []byte(plain+"  config: {keep-aliv: 1}\n"), other); err != nil || len(s.Warnings) != 1 {
		t.Errorf("with the bundled controller replaced: %v, %v", s, err)
	}
	if _, err = scenario.Parse("f.yaml", []byte(plain+"  config: {keep-aliv: 1}\n"), known); err == nil {
		t.Error("no error with the bundled controller")
	}
}

func TestPathsAreRelativeToTheFile(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "s.yaml")
	const file = plain + `  subjects:
  - {name: a, controller: ../bin/other, flags: {nginx-template: my.tmpl, lua-dir: /lua, some-file: ./x, name: a/b}}
  - {name: b, controller: other}
  - {name: c, image: images/c.tar}
  - {name: d, controller: "image:../d"}
  - {name: e, image: example.com/e}
`
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := scenario.Load(path, scenario.Known{})
	if err != nil {
		t.Fatal(err)
	}
	a := s.Subjects[0]
	for what, pair := range map[string][2]string{
		"controller":     {a.Controller, filepath.Join(filepath.Dir(folder), "bin/other")},
		"nginx-template": {a.Flags["nginx-template"], filepath.Join(folder, "my.tmpl")},
		"lua-dir":        {a.Flags["lua-dir"], "/lua"},
		"some-file":      {a.Flags["some-file"], filepath.Join(folder, "x")},
		"name":           {a.Flags["name"], "a/b"},
		"in PATH":        {s.Subjects[1].Controller, "other"},
		"a file":         {s.Subjects[2].Controller, "image:" + filepath.Join(folder, "images/c.tar")},
		"a file, by ../": {s.Subjects[3].Controller, "image:" + filepath.Join(filepath.Dir(folder), "d")},
		"an image":       {s.Subjects[4].Controller, "image:example.com/e"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: path %s, want %s", what, pair[0], pair[1])
		}
	}
	if !s.Located {
		t.Error("Located is false although paths were made absolute")
	}
}

// Pods in a cluster keep serving for a while. A scenario can set another time, and Marshal keeps
// it.
func TestDrainHasADefault(t *testing.T) {
	s, err := scenario.Parse("f.yaml", []byte(plain+`  population: {services: 1}
  timeline:
  - {churn: rolling-update, rate: 1/s, for: 1s}
  - {churn: scale-out, rate: 1/s, for: 1s}
`), known)
	if err != nil {
		t.Fatal(err)
	}
	if d := s.Timeline[0].Drain; d == nil || *d != scenario.DefaultDrain || s.Timeline[1].Drain != nil {
		t.Errorf("drains %v and %v", d, s.Timeline[1].Drain)
	}
	s.Timeline[0].Drain = new(time.Duration(0))
	text, err := s.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	if s, err = scenario.Parse("f.yaml", text, known); err != nil || *s.Timeline[0].Drain != 0 {
		t.Errorf("after Marshal and Parse: %v, %v", s, err)
	}
}
