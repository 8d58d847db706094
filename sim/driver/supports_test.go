package driver_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/driver/container"
	"windtunnel.dev/sim/driver/kind"
	"windtunnel.dev/sim/driver/local"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/scenario"
)

func TestSupports(t *testing.T) {
	with := func(name string) *scenario.Scenario {
		return &scenario.Scenario{File: "a.yaml", Spec: scenario.Spec{Timeline: []scenario.Step{{Line: 7, Fault: name}}}}
	}
	for _, f := range fault.All() {
		if f.Allowed() != nil {
			continue
		}
		if err := driver.Supports(local.Driver{}, with(f.Name)); err != nil {
			t.Errorf("local cannot run %s: %v", f.Name, err)
		}
	}
	if err := driver.Supports(kind.Driver{}, with("worker-kill")); err != nil {
		t.Errorf("kind cannot kill workers: %v", err)
	}
	for _, f := range fault.All() {
		if err := driver.Supports(kind.Driver{}, with(f.Name)); f.Needs == fault.APIServer && !errors.Is(err, fault.ErrNotHere) {
			t.Errorf("kind says that it can make %s: %v", f.Name, err)
		}
	}
	err := driver.Supports(kind.Driver{}, with("api-429"))
	if !errors.Is(err, fault.ErrNotHere) || !strings.Contains(err.Error(), "a.yaml:7: fault api-429, driver kind: ") || !strings.HasSuffix(err.Error(), "the API server is a real one") {
		t.Errorf("kind with a fault of the API server: %v", err)
	}
}

// Without root, every driver refuses the faults that need it.
func TestSupportsNeedsRoot(t *testing.T) {
	runtime.LockOSThread() // and never unlocked: the thread, which stays another user's, ends with the test
	if _, _, failed := unix.RawSyscall(unix.SYS_SETRESUID, ^uintptr(0), 65534, ^uintptr(0)); failed != 0 && os.Geteuid() == 0 {
		t.Skip(failed)
	}
	for _, f := range fault.All() {
		if f.Root != strings.Contains(f.Doc, "needs root") {
			t.Errorf("%s: Root is %t, but: %s", f.Name, f.Root, f.Doc)
		}
		for _, d := range []driver.Driver{local.Driver{}, container.Driver{}, kind.Driver{}} {
			err := driver.Supports(d, &scenario.Scenario{File: "a.yaml", Spec: scenario.Spec{Timeline: []scenario.Step{{Line: 7, Fault: f.Name}}}})
			if f.Root && (!errors.Is(err, fault.ErrNotHere) || !strings.HasSuffix(err.Error(), "it needs root")) {
				t.Errorf("%s, driver %s: %v", f.Name, d.Name(), err)
			}
		}
	}
}

// A driver that cannot run a subject reports why, and which driver can.
func TestSupportsSubject(t *testing.T) {
	limited := scenario.Resources{CPU: scenario.Quantity{Quantity: resource.MustParse("500m")}}
	for _, test := range []struct {
		driver  driver.Driver
		subject scenario.Subject
		why     string // part of the error; "" if the driver can run the subject
	}{
		{local.Driver{}, scenario.Subject{Controller: "bundled"}, ""},
		{local.Driver{}, scenario.Subject{Controller: "/bin/fork"}, ""},
		{local.Driver{}, scenario.Subject{Controller: "bundled", Resources: limited}, "no limits"},
		{container.Driver{}, scenario.Subject{Controller: "bundled", Resources: limited}, ""},
		{container.Driver{}, scenario.Subject{Controller: "image:fork"}, ""},
		{container.Driver{}, scenario.Subject{Controller: "/bin/fork"}, "image:NAME"},
		{container.Driver{}, scenario.Subject{Controller: "image:./fork.tar"}, "docker load -i ./fork.tar"},
		{kind.Driver{}, scenario.Subject{Controller: "image:/fork.tar"}, "docker load -i /fork.tar"},
		{kind.Driver{}, scenario.Subject{Controller: "bundled", Resources: limited}, ""},
	} {
		err := driver.Supports(test.driver, &scenario.Scenario{File: "a.yaml", Spec: scenario.Spec{Subjects: []scenario.Subject{test.subject}}})
		if (err == nil) != (test.why == "") || err != nil && (!errors.Is(err, fault.ErrNotHere) || !strings.Contains(err.Error(), test.why)) {
			t.Errorf("%s and %+v: %v", test.driver.Name(), test.subject, err)
		}
	}
}

// single is the adapter of a controller that has one process, and no image of its own.
const single = `
apiVersion: windtunnel.dev/v1
kind: Adapter
metadata: {name: single}
spec:
  summary: One process.
  needs: [NEEDS]
  command: [sh, -c, "{{.Controller}}"]
  ingressClass: {controller: example.com/single}
  health: [{address: "127.0.0.1:{{.Ports.HTTP}}", proves: it listens}]
  processes: {workers: single}
`

// If the adapter of a subject lacks a feature, the error gives the reason. A subject that does not fit its
// adapter is a mistake, and is not skipped.
func TestSupportsAdapter(t *testing.T) {
	file := func(needs string) string {
		path := filepath.Join(t.TempDir(), "single.yaml")
		if err := os.WriteFile(path, []byte(strings.Replace(single, "NEEDS", needs, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one := scenario.Subject{Name: "one", Adapter: file("sh"), Controller: "/bin/one"}
	with := func(change func(*scenario.Subject)) scenario.Subject { s := one; change(&s); return s }
	image := func(s *scenario.Subject) { s.Controller = "image:one" }
	for name, test := range map[string]struct {
		driver  driver.Driver
		subject scenario.Subject
		fault   string
		why     string // part of the error; "" if there is none
		skip    bool
	}{
		"it runs":                     {local.Driver{}, one, "controller-kill", "", false},
		"no master":                   {local.Driver{}, one, "worker-kill", "a.yaml:7: fault worker-kill, subject one: this driver cannot do it: the workers of the adapter single are single", true},
		"no configuration":            {local.Driver{}, one, "config-torn", "an nginx with a configuration file", true},
		"a missing program":           {local.Driver{}, with(func(s *scenario.Subject) { s.Adapter = file("no-such-program") }), "", "no-such-program", true},
		"an image of another command": {container.Driver{}, with(image), "", "{{.Controller}}", true},
		"manifests for another one":   {kind.Driver{}, with(image), "", "--driver local", true},
		"an unknown adapter":          {local.Driver{}, with(func(s *scenario.Subject) { s.Adapter = "nobody" }), "", "there is no adapter nobody", false},
		"an unknown setting":          {local.Driver{}, with(func(s *scenario.Subject) { s.Lua = "/lua" }), "", "does not use lua", false},
		"no webhook":                  {local.Driver{}, with(func(s *scenario.Subject) { s.Webhook = true }), "", "the adapter single has no webhook that reviews ingresses: remove webhook: true", false},
		"a webhook of a real cluster": {kind.Driver{}, scenario.Subject{Controller: "bundled", Webhook: true}, "", "the API server is a real one: remove webhook, or use --driver local", true},
		"the bundled controller":      {local.Driver{}, with(func(s *scenario.Subject) { s.Controller = "bundled" }), "", "name the path of a controller", false},
		"another nginx in an image":   {container.Driver{}, scenario.Subject{Controller: "image:fork", Nginx: "/nginx"}, "", "those of its image", true},
	} {
		err := driver.Supports(test.driver, &scenario.Scenario{File: "a.yaml", Spec: scenario.Spec{
			Subjects: []scenario.Subject{test.subject}, Timeline: []scenario.Step{{Line: 7, Fault: test.fault}},
		}})
		if (err == nil) != (test.why == "") || err != nil && !strings.Contains(err.Error(), test.why) || errors.Is(err, fault.ErrNotHere) != test.skip {
			t.Errorf("%s: %v, want %q", name, err, test.why)
		}
	}
}

// A scenario whose ingresses HTTPRoutes cannot express is skipped for controllers of the Gateway API.
func TestSupportsRoutes(t *testing.T) {
	const hash = "nginx.ingress.kubernetes.io/upstream-hash-by"
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "networking.k8s.io/v1", "kind": "Ingress",
		"metadata": map[string]any{"name": "shop", "annotations": map[string]any{hash: "$host"}},
	}}
	for name, test := range map[string]struct {
		spec      scenario.Spec
		manifests []scenario.Manifest
		why       string // part of the error; "" if the scenario is supported
	}{
		"no annotations": {scenario.Spec{Population: scenario.Population{TLS: true}}, nil, ""},
		"streams":        {scenario.Spec{Population: scenario.Population{Streams: true}}, nil, "publishes no services over plain TCP"},
		"population":     {scenario.Spec{Population: scenario.Population{Annotations: map[string]string{hash: "$host"}}}, nil, "a.yaml:1: subject routes"},
		"manifest":       {scenario.Spec{}, []scenario.Manifest{{Line: 9, Object: object}}, "a.yaml:9: subject routes"},
	} {
		s := &scenario.Scenario{File: "a.yaml", Spec: test.spec, Manifests: test.manifests}
		s.Subjects = []scenario.Subject{{Name: "routes", Adapter: "traefik-gateway", Controller: "/bin/traefik"}}
		err := driver.Supports(local.Driver{}, s)
		if test.why == "" {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if !errors.Is(err, fault.ErrNotHere) || !strings.Contains(err.Error(), test.why) {
			t.Errorf("%s: %v", name, err)
		}
		if test.spec.Population.Streams {
			continue
		}
		if !strings.Contains(err.Error(), hash) {
			t.Errorf("%s: %v does not name the annotation", name, err)
		}
		s.Subjects[0].Adapter = "traefik"
		if err := driver.Supports(local.Driver{}, s); err != nil {
			t.Errorf("%s, with ingresses: %v", name, err)
		}
	}
}

// An imported cluster needs pods with several ports, and a controller that serves ingresses.
func TestSupportsCluster(t *testing.T) {
	s := &scenario.Scenario{File: "a.yaml", Spec: scenario.Spec{
		Subjects:   []scenario.Subject{{Name: "bundled", Controller: scenario.Bundled}},
		Population: scenario.Population{Cluster: "mine.yaml", Line: 5},
	}}
	for _, d := range []driver.Driver{local.Driver{}, container.Driver{}} {
		if err := driver.Supports(d, s); err != nil {
			t.Errorf("%s: %v", d.Name(), err)
		}
	}
	err := driver.Supports(kind.Driver{}, s)
	if !errors.Is(err, fault.ErrNotHere) || !strings.HasPrefix(err.Error(), "a.yaml:5: cluster mine.yaml: driver kind: ") {
		t.Errorf("kind: %v", err)
	}
	s.Subjects = []scenario.Subject{{Name: "routes", Adapter: "traefik-gateway", Controller: "/bin/traefik"}}
	if err := driver.Supports(local.Driver{}, s); !errors.Is(err, fault.ErrNotHere) || !strings.Contains(err.Error(), "serves the Gateway API") {
		t.Errorf("the Gateway API: %v", err)
	}
}
