package record_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/kubeapi/fault"
	"windtunnel.dev/sim/record"
)

// live is a cluster with a population that a test changes.
type live struct {
	*testing.T
	server *kubeapi.Server
	client *cluster.Client
	next   byte
	pods   map[string]netip.Addr
}

func newLive(t *testing.T) *live {
	t.Helper()
	server, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close(context.Background()) })
	client, err := cluster.New(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	l := &live{T: t, server: server, client: client, pods: map[string]netip.Addr{}}
	population := corpus.Generate(corpus.Shape{Namespace: "demo", Services: 3, Pods: 2, Ingresses: 2, Seed: 1})
	var objects []*unstructured.Unstructured
	for _, typed := range population.Objects(l.address) {
		objects = append(objects, l.object(typed))
	}
	if err := client.CreateAll(t.Context(), objects); err != nil {
		t.Fatal(err)
	}
	return l
}

func (l *live) address(pod string) netip.Addr {
	if _, known := l.pods[pod]; !known {
		l.next++
		l.pods[pod] = netip.AddrFrom4([4]byte{10, 0, 0, l.next})
	}
	return l.pods[pod]
}

func (l *live) object(typed runtime.Object) *unstructured.Unstructured {
	l.Helper()
	object, err := cluster.Object(typed)
	if err != nil {
		l.Fatal(err)
	}
	return object
}

func (l *live) put(typed runtime.Object) {
	l.Helper()
	if _, err := l.client.Put(l.Context(), l.object(typed)); err != nil {
		l.Fatal(err)
	}
}

// has writes the EndpointSlice of a service with these pods.
func (l *live) has(service string, pods ...string) {
	l.Helper()
	var members []corpus.Member
	for _, pod := range pods {
		members = append(members, corpus.Member{Pod: pod, Address: l.address(pod), Serving: true})
	}
	l.put(corpus.Slice(corpus.Service{Namespace: "demo", Name: service, Port: 8080}, members))
}

// record records the cluster while act changes it, until a number of changes is recorded.
func (l *live) record(o record.Options, changes int, act func()) churn.Recording {
	l.Helper()
	ctx, stop := context.WithCancel(l.Context())
	defer stop()
	acted := make(chan struct{})
	o.Began = func(services, pods, hosts int) {
		if services != 3 || pods != 6 || hosts != 2 {
			l.Errorf("the recording begins with %d services, %d pods, %d hosts", services, pods, hosts)
		}
		go func() { defer close(acted); act() }()
	}
	o.Changed = func(n int) {
		if n == changes {
			stop()
		}
	}
	recording, err := record.Record(ctx, l.server.Config(), o)
	if err != nil {
		l.Fatal(err)
	}
	<-acted // a change may be recorded before its write is answered
	return recording
}

func TestRecord(t *testing.T) {
	l := newLive(t)
	recording := l.record(record.Options{}, 4, func() {
		l.has("svc-002", "a", "b", "c")
		l.put(corpus.Ingress{Name: "new", Host: "new.example", Paths: []corpus.Path{{Prefix: "/", Service: "svc-001"}, {Prefix: "/a", Service: "svc-002"}}}.Object("demo"))
		l.has("svc-002", "b", "c", "d")
		l.has("svc-002")
	})
	type brief struct {
		Service, Host string
		Add, Remove   int
	}
	var got []brief
	for _, c := range recording.Changes {
		got = append(got, brief{c.Service, c.Host, len(c.Add), len(c.Remove)})
	}
	// Each kind has its own watch, so changes of different kinds may be recorded in another order.
	slices.SortStableFunc(got, func(a, b brief) int { return strings.Compare(b.Host, a.Host) })
	want := []brief{
		{"recorded/demo-svc-001", "new.example", 0, 0},
		{"recorded/demo-svc-002", "", 3, 2},
		{"recorded/demo-svc-002", "", 1, 1},
		{"recorded/demo-svc-002", "", 0, 3},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"further paths of new hosts": 1}, recording.Left); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	var file bytes.Buffer
	if err := churn.Write(&file, recording); err != nil {
		t.Fatal(err)
	}
	again, err := churn.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(recording.Changes, again.Changes); diff != "" {
		t.Errorf("-recorded +read:\n%s", diff)
	}
	var hosts []string
	for _, target := range again.Population.Targets() {
		hosts = append(hosts, target.Host)
	}
	slices.Sort(hosts)
	if hosts = slices.Compact(hosts); !slices.Equal(hosts, []string{"svc-000.demo.example", "svc-001.demo.example"}) {
		t.Errorf("hosts %v", hosts)
	}
}

// If an EndpointSlice gets the label of another service, its pods move to that service.
func TestSliceOfAnotherService(t *testing.T) {
	l := newLive(t)
	recording := l.record(record.Options{}, 3, func() {
		l.has("svc-001", "a")
		moved := corpus.Slice(corpus.Service{Namespace: "demo", Name: "svc-001", Port: 8080}, []corpus.Member{{Pod: "a", Address: l.address("a"), Serving: true}})
		moved.Labels[discoveryv1.LabelServiceName] = "svc-000"
		l.put(moved)
	})
	var got []string
	for _, c := range recording.Changes {
		got = append(got, fmt.Sprintf("%s +%d -%d", c.Service, len(c.Add), len(c.Remove)))
	}
	want := []string{"recorded/demo-svc-001 +1 -2", "recorded/demo-svc-001 +0 -1", "recorded/demo-svc-000 +1 -0"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// Changes that a recording cannot express are counted.
func TestLeftOut(t *testing.T) {
	l := newLive(t)
	ingress := func(path string) *networkingv1.Ingress {
		return corpus.Ingress{Name: "new", Host: "new.example", Paths: []corpus.Path{{Prefix: path, Service: "svc-001"}}}.Object("demo")
	}
	recording := l.record(record.Options{}, 2, func() {
		l.put(ingress("/a"))
		l.put(ingress("/b"))
		l.put(corpus.Ingress{Name: "last", Host: "last.example", Paths: []corpus.Path{{Prefix: "/", Service: "svc-001"}}}.Object("demo"))
	})
	if diff := cmp.Diff(map[string]int{"changed ingresses": 1}, recording.Left); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
}

// A path has one service, as in a controller: a canary, and a second ingress for the path, are left out.
func TestPathsAreRecordedOnce(t *testing.T) {
	l := newLive(t)
	for name, annotations := range map[string]map[string]string{"a-canary": {"nginx.ingress.kubernetes.io/canary": "true"}, "twice": nil} {
		l.put(corpus.Ingress{Name: name, Host: "svc-000.demo.example", Paths: []corpus.Path{{Prefix: "/", Service: "svc-002"}}, Annotations: annotations}.Object("demo"))
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	recording, err := record.Record(ctx, l.server.Config(), record.Options{Began: func(int, int, int) { stop() }})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]int{"canary ingresses": 1, "paths that their host has already": 1}, recording.Left); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	seen := map[string]string{}
	for _, target := range recording.Population.Targets() {
		if before, twice := seen[target.URL()]; twice {
			t.Errorf("%s is of %s and of %s", target.URL(), before, target.Service)
		}
		seen[target.URL()] = target.Service
	}
}

// A path without text applies to all paths.
func TestEmptyPath(t *testing.T) {
	l := newLive(t)
	ingress := corpus.Ingress{Name: "whole", Host: "whole.example", Paths: []corpus.Path{{Service: "svc-002"}}}.Object("demo")
	ingress.Spec.Rules[0].HTTP.Paths[0].PathType = new(networkingv1.PathTypeImplementationSpecific)
	l.put(ingress)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	recording, err := record.Record(ctx, l.server.Config(), record.Options{Began: func(int, int, int) { stop() }})
	if err != nil {
		t.Fatal(err)
	}
	if want := (corpus.Target{Host: "whole.example", Path: "/", Service: "recorded/demo-svc-002"}); !slices.Contains(recording.Population.Targets(), want) || len(recording.Left) > 0 {
		t.Errorf("targets %+v, left out %v", recording.Population.Targets(), recording.Left)
	}
}

// With hashes, the file has no names of the cluster.
func TestHashedNames(t *testing.T) {
	l := newLive(t)
	recording := l.record(record.Options{Hash: true}, 1, func() { l.has("svc-002", "secret-pod") })
	var file bytes.Buffer
	if err := churn.Write(&file, recording); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(slices.Collect(maps.Keys(l.pods)), "demo", "svc-000", "svc-001", "svc-002", "secret") {
		if strings.Contains(file.String(), name) {
			t.Errorf("the file contains %s", name)
		}
	}
	if _, err := churn.Read(&file); err != nil {
		t.Error(err)
	}
}

// Namespaces that the options do not name are not recorded.
func TestNamespaces(t *testing.T) {
	l := newLive(t)
	ctx, stop := context.WithCancel(t.Context())
	recording, err := record.Record(ctx, l.server.Config(), record.Options{Namespaces: []string{"other"}, Began: func(int, int, int) { stop() }})
	if err != nil || len(recording.Population.Services) > 0 {
		t.Errorf("got %+v, %v", recording.Population, err)
	}
}

// No names mean all namespaces. Names of namespaces that do not exist are reported.
func TestNamesOfNamespaces(t *testing.T) {
	l := newLive(t)
	for _, test := range []struct{ names, missing []string }{{names: []string{}}, {names: []string{"demo", "none"}, missing: []string{"none"}}} {
		ctx, stop := context.WithCancel(t.Context())
		var missing []string
		recording, err := record.Record(ctx, l.server.Config(), record.Options{
			Namespaces: test.names,
			Missing:    func(name string) { missing = append(missing, name) },
			Began:      func(int, int, int) { stop() },
		})
		if err != nil || len(recording.Population.Services) != 3 || !slices.Equal(missing, test.missing) {
			t.Errorf("%q: %d services, missing %q, %v", test.names, len(recording.Population.Services), missing, err)
		}
	}
}

// Two services whose namespaces and names give the same text have different names.
func TestSimilarServices(t *testing.T) {
	l := newLive(t)
	for _, name := range []types.NamespacedName{{Namespace: "shop", Name: "web-api"}, {Namespace: "shop-web", Name: "api"}} {
		l.put(&corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: name.Namespace}})
		l.put(&corev1.Service{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Service"}, ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name},
			Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}},
		})
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	recording, err := record.Record(ctx, l.server.Config(), record.Options{Namespaces: []string{"shop", "shop-web", "shop"}, Began: func(services, _, _ int) { stop() }})
	if err != nil {
		t.Fatal(err)
	}
	if services := recording.Population.Services; len(services) != 2 || services[0].Name == services[1].Name {
		t.Errorf("%+v", services)
	}
}

// A recording counts the outages of the API server.
func TestOutageIsCounted(t *testing.T) {
	l := newLive(t)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	recording, err := record.Record(ctx, l.server.Config(), record.Options{
		Began: func(int, int, int) {
			if _, err := l.server.Inject(fault.Crash(0), fault.Scope{}); err != nil {
				t.Error(err)
			}
		},
		Outage: func(error) { stop() },
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]int{"times without the API server: changes in them are late or missing": 1}; !maps.Equal(recording.Left, want) {
		t.Errorf("%v, want %v", recording.Left, want)
	}
}
