package notice

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/scenario"
)

var stored = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func ingress(name, host, path, service string) *networkingv1.Ingress {
	return &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, CreationTimestamp: metav1.NewTime(stored)},
		Spec: networkingv1.IngressSpec{IngressClassName: new("nginx"), Rules: []networkingv1.IngressRule{{Host: host, IngressRuleValue: networkingv1.IngressRuleValue{
			HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{Path: path, Backend: networkingv1.IngressBackend{
				Service: &networkingv1.IngressServiceBackend{Name: service}}}}},
		}}}},
	}
}

// slice returns an EndpointSlice with these ready pods, and one that is not ready.
func slice(name, service string, pods ...string) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, CreationTimestamp: metav1.NewTime(stored), Labels: map[string]string{discoveryv1.LabelServiceName: service}}}
	for _, pod := range pods {
		s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{Addresses: []string{"10.0.0.1"}, TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: pod}})
	}
	s.Endpoints = append(s.Endpoints, discoveryv1.Endpoint{Conditions: discoveryv1.EndpointConditions{Ready: new(false)}, TargetRef: &corev1.ObjectReference{Name: "starting"}})
	return s
}

func begun(t *testing.T, hosts ...Host) *Ledger {
	t.Helper()
	l := NewLedger("nginx", hosts)
	for _, o := range []any{ingress("web", "shop.example", "/", "web"), ingress("api", "shop.example", "/api", "api"), slice("web-1", "web", "a", "b"), slice("web-2", "web", "c")} {
		if change := l.Add(o, false, stored); change != nil {
			t.Errorf("the initial state is the change %+v", change)
		}
	}
	l.Begin()
	return l
}

// The pods of a service are those in all its slices.
func TestEndpoints(t *testing.T) {
	l := begun(t, Host{Name: "shop.example", Identified: true})
	for _, test := range []struct {
		object *discoveryv1.EndpointSlice
		gone   bool
		want   *event.Change
	}{
		{slice("web-1", "web", "a", "b"), false, nil},
		{slice("web-1", "web", "a", "d"), false, &event.Change{ID: 1, Step: scenario.RollingUpdate, Object: "EndpointSlice shop/web-1", Service: "shop/web", Host: "shop.example", Added: []string{"shop/d"}, Removed: []string{"shop/b"}, Pods: 3, Late: 2 * time.Second}},
		{slice("web-3", "web", "e"), false, &event.Change{ID: 2, Step: scenario.ScaleOut, Object: "EndpointSlice shop/web-3", Service: "shop/web", Host: "shop.example", Added: []string{"shop/e"}, Pods: 4, Late: 2 * time.Second}},
		{slice("web-2", "web", "c"), true, &event.Change{ID: 3, Step: ScaleIn, Object: "EndpointSlice shop/web-2", Service: "shop/web", Host: "shop.example", Removed: []string{"shop/c"}, Pods: 3}},
		{slice("api-1", "api", "x"), false, &event.Change{ID: 4, Step: scenario.ScaleOut, Object: "EndpointSlice shop/api-1", Service: "shop/api", Added: []string{"shop/x"}, Pods: 1, Late: 2 * time.Second}}, // its host is not named
		{slice("db-1", "db", "y"), false, nil}, // not routed
	} {
		if diff := cmp.Diff(test.want, l.Add(test.object, test.gone, stored.Add(2*time.Second))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.object.Name, diff)
		}
	}
	if l.Ignored() != 1 {
		t.Errorf("%d ignored", l.Ignored())
	}
	if diff := cmp.Diff(Size{Ingresses: 2, Services: 2, Pods: 4}, l.Size()); diff != "" {
		t.Error(diff)
	}
}

func TestIngresses(t *testing.T) {
	l := begun(t, Host{Name: "new.example"})
	changed := ingress("web", "shop.example", "/", "web")
	changed.Annotations = map[string]string{"a": "b"}
	status := changed.DeepCopy()
	status.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "10.0.0.1"}}
	other := ingress("other", "other.example", "/", "web")
	other.Spec.IngressClassName = new("another")
	var got []event.Change
	for _, o := range []*networkingv1.Ingress{changed, status, other, ingress("new", "new.example", "/", "web"), ingress("more", "new.example", "/more", "web")} {
		if change := l.Add(o, false, stored); change != nil {
			got = append(got, *change)
		}
	}
	if change := l.Add(changed, true, stored); change != nil {
		got = append(got, *change)
	}
	want := []event.Change{
		{ID: 1, Step: IngressChanged, Object: "Ingress shop/web"},
		{ID: 2, Step: scenario.NewHosts, Object: "Ingress shop/new", Service: "shop/web", Host: "new.example", Confirmation: &event.Confirmation{Service: "shop/web", Status: 200}},
		{ID: 3, Step: IngressChanged, Object: "Ingress shop/more"},
		{ID: 4, Step: IngressRemoved, Object: "Ingress shop/web"},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(event.Change{}, "Late")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// An ingress that gets another class leaves the controller, and comes back with the class.
func TestClassOfIngressChanges(t *testing.T) {
	l := begun(t)
	left := ingress("web", "shop.example", "/", "web")
	left.Spec.IngressClassName = new("another")
	for _, test := range []struct {
		ingress   *networkingv1.Ingress
		step      string
		ingresses int
	}{
		{left, IngressRemoved, 1},
		{left, "", 1},
		{ingress("web", "shop.example", "/", "web"), IngressChanged, 2},
	} {
		step := ""
		if change := l.Add(test.ingress, false, stored); change != nil {
			step = change.Step
		}
		if got := l.Size().Ingresses; step != test.step || got != test.ingresses {
			t.Errorf("%q with %d ingresses, want %q with %d", step, got, test.step, test.ingresses)
		}
	}
}

// The longest path wins.
func TestServiceOf(t *testing.T) {
	l := begun(t)
	for path, want := range map[string]string{"": "shop/web", "/api": "shop/api", "/api/v1?x": "shop/api", "/apis": "shop/web"} {
		if got, ok := l.ServiceOf(Host{Name: "shop.example", Path: path}); !ok || got.String() != want {
			t.Errorf("%q: %v, want %s", path, got, want)
		}
	}
}

// Of several ingresses for a path, the oldest wins, and a canary never does.
func TestServiceOfSeveral(t *testing.T) {
	l := begun(t)
	older := func(o *networkingv1.Ingress, by time.Duration) *networkingv1.Ingress {
		o.CreationTimestamp = metav1.NewTime(stored.Add(-by))
		return o
	}
	share := older(ingress("share", "shop.example", "/", "share"), time.Hour)
	share.Annotations = map[string]string{"nginx.ingress.kubernetes.io/canary": "true"}
	for _, o := range []any{share, older(ingress("old", "shop.example", "/", "old"), time.Minute), ingress("a", "shop.example", "/", "a")} {
		l.Add(o, false, stored)
	}
	for range 100 { // the order of a map is random
		if got, ok := l.ServiceOf(Host{Name: "shop.example"}); !ok || got.String() != "shop/old" {
			t.Fatalf("%v, want shop/old", got)
		}
	}
}

const metricsText = `# HELP nginx_ingress_controller_success Reloads
# TYPE nginx_ingress_controller_success counter
nginx_ingress_controller_success{controller_pod="a"} 7
nginx_ingress_controller_errors{controller_pod="a"} 2
nginx_ingress_controller_config_last_reload_successful_timestamp_seconds{controller_pod="a"} 1.767323047e+09
nginx_ingress_controller_nginx_process_resident_memory_bytes 1000
nginx_ingress_controller_nginx_process_cpu_seconds_total 1.5
nginx_ingress_controller_nginx_process_requests_total 42
nginx_ingress_controller_nginx_process_connections_total{state="accepted"} 10
nginx_ingress_controller_nginx_process_connections_total{state="handled"} 9
nginx_ingress_controller_nginx_process_connections{state="active"} 3
nginx_ingress_controller_request_duration_seconds_bucket{host="shop.example",le="1"} 5
process_resident_memory_bytes 2000
process_cpu_seconds_total 0.25
process_start_time_seconds 1.767322e+09
`

func TestParseMetrics(t *testing.T) {
	got, err := ParseMetrics(strings.NewReader(metricsText), time.Unix(1767323045, 0))
	if err != nil {
		t.Fatal(err)
	}
	want := Sample{
		Scrape: event.Scrape{
			Started: time.Unix(1767322000, 0).UTC(), Reloads: &event.Reloads{Loaded: 7, Failed: 2, Last: 2 * time.Second},
			Nginx: &event.Status{Active: 3, Accepted: 10, Handled: 9, Requests: 42},
		},
		Usage:  event.Usage{NginxRSS: 1000, NginxCPU: 1500 * time.Millisecond, ControllerRSS: 2000, ControllerCPU: 250 * time.Millisecond},
		Memory: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := ParseMetrics(strings.NewReader("<html>"), time.Now()); err == nil {
		t.Error("a page without metrics was read")
	}
}

func TestParseStatus(t *testing.T) {
	got, err := ParseStatus("Active connections: 2 \nserver accepts handled requests\n 16 15 31 \nReading: 0 Writing: 1 Waiting: 1 \n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&event.Status{Active: 2, Accepted: 16, Handled: 15, Requests: 31}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := ParseStatus("not found"); err == nil {
		t.Error("another page was read")
	}
}

func TestParseHost(t *testing.T) {
	for text, want := range map[string]Host{
		"shop.example": {Name: "shop.example"}, "Shop.example/a?b": {Name: "shop.example", Path: "/a?b"},
		"https://shop.example/": {Name: "shop.example", TLS: true},
	} {
		if got, err := ParseHost(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "shop.example:8080", "ftp://shop.example", "u@shop.example"} {
		if _, err := ParseHost(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

// The scenario of an observation can be parsed.
func TestScenario(t *testing.T) {
	made, left := Scenario(Seen{
		Name: "observed", Controller: "image:registry.example/controller:v1", Size: Size{Ingresses: 3, Services: 2, Pods: 5}, Length: 10 * time.Minute,
		Steps: map[string]int{scenario.RollingUpdate: 30, scenario.NewHosts: 2, ScaleIn: 4}, Lanes: map[string]float64{"http": 10},
	})
	if diff := cmp.Diff(map[string]int{ScaleIn: 4}, left); diff != "" {
		t.Error(diff)
	}
	text, err := made.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "scenario.yaml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	read, err := scenario.Load(file, scenario.Known{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if read.Population.Pods != 3 || len(read.Timeline) != 2 || read.Timeline[1].Rate != 0.05 {
		t.Errorf("read %+v", read.Spec)
	}
}
