package migrate

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/derive"
	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/judge"
	"windtunnel.dev/sim/manifest"
	"windtunnel.dev/sim/migrate/report"
	"windtunnel.dev/sim/scenario"
)

// A controller's own keys replace those of the manifests, and settings that it cannot have are reported.
func TestFitting(t *testing.T) {
	c := &behave.Case{}
	c.Config, c.Flags = map[string]string{"hsts": "false", "use-gzip": "true"}, map[string]string{"disable-catch-all": "true"}

	ours := Side{}
	ours.Ask.ConfigMap = types.NamespacedName{Namespace: "a", Name: "b"}
	ours.Ask.Subject.Config = map[string]string{"hsts": "true"}
	fitting, unreached := ours.fitting([]*behave.Case{c})
	if got := fitting[0]; len(unreached) > 0 || len(got.Config) != 1 || got.Config["use-gzip"] != "true" || len(got.Flags) != 1 {
		t.Errorf("with a ConfigMap: %v, %v, unreached %v", got.Config, got.Flags, unreached)
	}

	other := Side{}
	other.Ask.Subject.Adapter = "other.yaml"
	fitting, unreached = other.fitting([]*behave.Case{c, c})
	if len(fitting[1].Config)+len(fitting[1].Flags) > 0 || !slices.Equal(unreached, []string{"config/hsts", "config/use-gzip", "flag/disable-catch-all"}) {
		t.Errorf("another adapter: %v, %v, unreached %v", fitting[1].Config, fitting[1].Flags, unreached)
	}
	if len(c.Config) != 2 || len(c.Flags) != 1 {
		t.Error("the case itself was changed")
	}
}

const manifests = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: one, namespace: shop}
spec:
  defaultBackend: {service: {name: web, port: {number: 80}}}
  rules:
  - host: a.example
    http:
      paths:
      - {path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}
      - {path: /b, pathType: Prefix, backend: {service: {name: api, port: {number: 80}}}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: two, namespace: other}
spec: {rules: [{host: b.example, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web-1, namespace: shop, labels: {kubernetes.io/service-name: web}}
addressType: IPv4
endpoints: [{addresses: [10.0.0.1]}, {addresses: [10.0.0.2]}, {addresses: [10.0.0.3]}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: api-1, namespace: shop, labels: {kubernetes.io/service-name: api}}
addressType: IPv4
endpoints: [{addresses: [10.0.0.4]}, {addresses: [10.0.0.5]}]
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: gone-1, namespace: shop, labels: {kubernetes.io/service-name: gone}}
addressType: IPv4
endpoints: []
`

func TestSizeOf(t *testing.T) {
	all, err := manifest.Parse("m.yaml", []byte(manifests))
	if err != nil {
		t.Fatal(err)
	}
	derived := derive.Of(all, derive.Options{Class: "nginx"})
	if got, want := SizeOf(derived, all), (report.Size{Ingresses: 2, Services: 3, Pods: 3}); got != want {
		t.Errorf("size %+v, want %+v", got, want)
	}
	if got := SizeOf(derived, nil).Pods; got != defaultPods {
		t.Errorf("without endpoints, %d pods of each service, want %d", got, defaultPods)
	}
}

// The pods of a service can be in several slices, and again in those for IPv6. Services that no ingress
// routes to do not count.
func TestSizeOfLargeServices(t *testing.T) {
	text := manifests
	add := func(name, service, family string, pods int) {
		text += fmt.Sprintf("---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: %s, namespace: shop, labels: {kubernetes.io/service-name: %s}}\naddressType: %s\nendpoints: [%s]\n",
			name, service, family, strings.TrimSuffix(strings.Repeat("{addresses: [a]}, ", pods), ", "))
	}
	add("web-2", "web", "IPv4", 95) // web has 98, api 2
	add("web-6", "web", "IPv6", 98)
	add("dns-1", "dns", "IPv4", 900)
	all, err := manifest.Parse("m.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if got := SizeOf(derive.Of(all, derive.Options{Class: "nginx"}), all).Pods; got != 50 {
		t.Errorf("%d pods of each service, want 50", got)
	}
}

// The scenarios have the size of the cluster, and turns for all subjects.
func TestScenarios(t *testing.T) {
	c := Costs{Subjects: []scenario.Subject{{Name: "a"}, {Name: "b"}}, Size: report.Size{Ingresses: 7, Services: 5, Pods: 3}, Length: 10 * time.Second}
	for n := range changes {
		s, err := c.scenario(n)
		if err != nil {
			t.Fatal(err)
		}
		p := s.Population
		if p.Ingresses != 7 || p.Services != 5 || p.Pods != 3 || s.Rounds != 2 || len(s.Subjects) != 2 || s.Length() != c.Length {
			t.Errorf("%s: %+v, %d rounds of %v for %v", s.Name, p, s.Rounds, s.Length(), s.Subjects)
		}
	}
}

// unused is a driver with a name only.
type unused struct{ driver.Driver }

func (unused) Name() string { return "unused" }

// Whenever a migration is interrupted, the document says what is missing.
func TestInterrupted(t *testing.T) {
	all, err := manifest.Parse("m.yaml", []byte(manifests))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	side := func(name string) Side {
		s := Side{Name: name}
		s.Ask.Driver = unused{}
		return s
	}
	derived := derive.Of(all, derive.Options{Class: "nginx"})
	d, err := Do(ctx, Plan{
		Derived: derived, From: side("a"), To: []Side{side("b")}, Dir: t.TempDir(), Say: io.Discard,
		Costs: &Costs{Subjects: []scenario.Subject{{Name: "a"}, {Name: "b"}}, Size: SizeOf(derived, all), Driver: unused{}},
	})
	if err != nil || !d.Interrupted || d.Outcome() != judge.Interrupted {
		t.Fatalf("%v, %+v", err, d)
	}
	if len(d.NotRecorded) != len(derived.Cases) || len(d.To) != 1 || len(d.To[0].Differences) > 0 {
		t.Errorf("%+v", d)
	}
	if len(d.Costs.Runs) != len(changes) || d.Costs.Runs[0].Trouble != "not measured: interrupted" {
		t.Errorf("costs: %+v", d.Costs)
	}
}
