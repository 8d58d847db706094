package corpus_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"reflect"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"windtunnel.dev/internal/golden"
	"windtunnel.dev/sim/corpus"
)

var shape = corpus.Shape{Namespace: "demo", Services: 20, Pods: 5, Ingresses: 50, Seed: 1}

// addresses returns a function that assigns addresses to pods in the order of its calls.
func addresses() func(string) netip.Addr {
	next := netip.MustParseAddr("127.1.0.0")
	given := map[string]netip.Addr{}
	return func(pod string) netip.Addr {
		if _, ok := given[pod]; !ok {
			next = next.Next()
			given[pod] = next
		}
		return given[pod]
	}
}

// TestSeedIsStableAcrossVersions compares a population with a golden file, because a seed gives the
// same population in every version of Windtunnel.
func TestSeedIsStableAcrossVersions(t *testing.T) {
	var file bytes.Buffer
	p := corpus.Generate(corpus.Shape{Namespace: "demo", Services: 2, Pods: 2, Ingresses: 3, Seed: 4})
	for _, object := range p.Objects(addresses()) {
		text, err := yaml.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&file, "---\n%s", text)
	}
	golden.Check(t, "testdata/population.yaml", file.Bytes())
}

func TestSeedDecides(t *testing.T) {
	if diff := cmp.Diff(corpus.Generate(shape), corpus.Generate(shape)); diff != "" {
		t.Errorf("the same seed generated a different population:\n%s", diff)
	}
	other := shape
	other.Seed++
	if reflect.DeepEqual(corpus.Generate(shape), corpus.Generate(other)) {
		t.Error("another seed generated the same population")
	}
}

// TestPartsAreIndependent checks that more ingresses do not change the services, so that two runs
// that differ in one count differ in nothing else.
func TestPartsAreIndependent(t *testing.T) {
	more := shape
	more.Ingresses += 10
	few, many := corpus.Generate(shape), corpus.Generate(more)
	if diff := cmp.Diff(few.Services, many.Services); diff != "" {
		t.Errorf("services, -few +many:\n%s", diff)
	}
	if diff := cmp.Diff(few.Ingresses, many.Ingresses[:shape.Ingresses]); diff != "" {
		t.Errorf("ingresses, -few +many:\n%s", diff)
	}
}

func TestCountsAndNames(t *testing.T) {
	p := corpus.Generate(shape)
	if len(p.Services) != 20 || len(p.Ingresses) != 50 {
		t.Fatalf("%d services, %d ingresses, want 20 and 50", len(p.Services), len(p.Ingresses))
	}
	pods := map[string]bool{}
	for i, s := range p.Services {
		if want := fmt.Sprintf("svc-%03d", i); s.Name != want {
			t.Errorf("service %d is %s, want %s", i, s.Name, want)
		}
		if s.Port != corpus.DefaultPort {
			t.Errorf("%s has port %d, want %d", s.Name, s.Port, corpus.DefaultPort)
		}
		shape := regexp.MustCompile("^" + s.Name + "-[a-z0-9]{5}$")
		for _, pod := range s.Pods {
			if !shape.MatchString(pod) {
				t.Errorf("pod %s, want %s", pod, shape)
			}
			pods[pod] = true
		}
	}
	if len(pods) != 100 {
		t.Errorf("%d different pods, want 100", len(pods))
	}
}

// TestIngresses checks that each ingress has its own host, which routes to its service, and that
// some, but not all, have a second path.
func TestIngresses(t *testing.T) {
	p := corpus.Generate(shape)
	hosts, names, second := map[string]bool{}, map[string]bool{}, 0
	for i, ingress := range p.Ingresses {
		hosts[ingress.Host], names[ingress.Name] = true, true
		if want := p.Services[i%len(p.Services)].Name; ingress.Paths[0].Service != want || ingress.Paths[0].Prefix != "/" {
			t.Errorf("ingress %d routes %+v, want / to %s", i, ingress.Paths[0], want)
		}
		if len(ingress.Paths) > 1 {
			second++
		}
	}
	if len(hosts) != 50 || len(names) != 50 {
		t.Errorf("%d hosts, %d names, want 50 of each", len(hosts), len(names))
	}
	if second == 0 || second == 50 {
		t.Errorf("%d of 50 ingresses have a second path, want some", second)
	}
	if p.Ingresses[0].Host != "svc-000.demo.example" {
		t.Errorf("the first host is %s", p.Ingresses[0].Host)
	}
	if got := len(p.Targets()); got != 50+second {
		t.Errorf("%d targets, want one per path: %d", got, 50+second)
	}
}

// TestObjectsReferToEachOther checks the references between the objects.
func TestObjectsReferToEachOther(t *testing.T) {
	p := corpus.Generate(shape)
	objects := p.Objects(addresses())
	seen := map[string]bool{}
	kinds := map[string]int{}
	for _, object := range objects {
		kind := object.GetObjectKind().GroupVersionKind()
		if kind.Kind == "" || kind.Version == "" {
			t.Fatalf("%T has no kind", object)
		}
		kinds[kind.Kind]++
		name := accessor(t, object)
		if seen[kind.Kind+name] {
			t.Errorf("a second %s %s", kind.Kind, name)
		}
		seen[kind.Kind+name] = true
		switch o := object.(type) {
		case *discoveryv1.EndpointSlice:
			if service := "Service" + o.Namespace + "/" + o.Labels[discoveryv1.LabelServiceName]; !seen[service] {
				t.Errorf("slice %s comes before its service", o.Name)
			}
		case *networkingv1.Ingress:
			for _, path := range o.Spec.Rules[0].HTTP.Paths {
				if !seen["Service"+o.Namespace+"/"+path.Backend.Service.Name] {
					t.Errorf("ingress %s comes before service %s", o.Name, path.Backend.Service.Name)
				}
			}
		}
	}
	want := map[string]int{"Namespace": 1, "IngressClass": 1, "Service": 20, "EndpointSlice": 20, "Ingress": 50}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func accessor(t *testing.T, object runtime.Object) string {
	t.Helper()
	named, ok := object.(interface {
		GetNamespace() string
		GetName() string
	})
	if !ok {
		t.Fatalf("%T has no name", object)
	}
	return named.GetNamespace() + "/" + named.GetName()
}

func TestEmptyShape(t *testing.T) {
	p := corpus.Generate(corpus.Shape{Namespace: "demo", Ingresses: 3})
	if len(p.Services) != 0 || len(p.Ingresses) != 0 || len(p.Targets()) != 0 {
		t.Errorf("got %+v, want nothing to route to and no routes", p)
	}
}

// Further paths lead to the service of the first path. They are in the objects, but are not targets.
func TestFurtherPaths(t *testing.T) {
	p := corpus.Generate(corpus.Shape{Namespace: "demo", Services: 1, Pods: 1, Ingresses: 1, Paths: 2})
	without := corpus.Generate(corpus.Shape{Namespace: "demo", Services: 1, Pods: 1, Ingresses: 1})
	if diff := cmp.Diff(without.Targets(), p.Targets()); diff != "" {
		t.Errorf("targets (-without +with):\n%s", diff)
	}
	paths := p.Ingress(p.Ingresses[0]).Spec.Rules[0].HTTP.Paths
	if len(paths) != len(p.Ingresses[0].Paths)+2 {
		t.Fatalf("%d paths", len(paths))
	}
	if last := paths[len(paths)-1]; last.Path != "/path-2" || last.Backend.Service.Name != p.Services[0].Name {
		t.Errorf("last path %+v", last)
	}
}

// The namespaces of a population are those of all its objects, each once.
func TestNamespaces(t *testing.T) {
	for name, c := range map[string]struct {
		p    corpus.Population
		want []string
	}{
		"generated": {corpus.Generate(shape), []string{"demo"}},
		"empty":     {corpus.Population{Namespace: "demo"}, []string{"demo"}},
		"imported": {corpus.Population{
			Namespace: "default", Services: []corpus.Service{{Namespace: "shop", Name: "web"}},
			Cluster: &corpus.Cluster{
				Objects:   []runtime.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "of-secrets"}}, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}},
				Unchanged: []corpus.Service{{Namespace: "api", Name: "web"}},
			},
		}, []string{"default", "of-secrets", "shop", "api"}},
	} {
		if diff := cmp.Diff(c.want, c.p.Namespaces()); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}
