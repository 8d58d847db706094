package step_test

import (
	"bytes"
	"context"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/kubeapi"
	"windtunnel.dev/sim/scenario"
	"windtunnel.dev/sim/step"
)

const story = `
apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: story}
spec:
  population: {services: 2, pods: 2}
  timeline:
  - {at: 0s, churn: rolling-update, rate: 2/s, for: 2s, drain: 1h}
  - {at: 1s, apply: settings}
  - {at: 2s, delete: settings}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: demo}
data: {key: "1"}
`

// stage is a cluster with the population of story, and its log.
type stage struct {
	scenario *scenario.Scenario
	cluster  *step.Cluster
	look     kubernetes.Interface
	pods     backend.Fleet
	log      *event.Log
	out      bytes.Buffer
	tasks    []step.Task
}

func newStage(t *testing.T, prefix string) *stage {
	t.Helper()
	return newStageOf(t, story, prefix)
}

func newStageOf(t *testing.T, story, prefix string) *stage {
	t.Helper()
	s := &stage{}
	var err error
	if s.scenario, err = scenario.Parse("story.yaml", []byte(story), scenario.Known{}); err != nil {
		t.Fatal(err)
	}
	server, err := kubeapi.Start(kubeapi.Options{HTTP: "127.0.0.1:0", Dir: t.TempDir(), AllowLoopbackEndpoints: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close(context.Background()) })
	client, err := cluster.New(server.Config())
	if err != nil {
		t.Fatal(err)
	}
	s.look = kubernetes.NewForConfigOrDie(server.Config())
	s.log = event.NewLog(&s.out, time.Now())
	s.pods = backend.New(backend.Options{Prefix: netip.MustParsePrefix(prefix), Port: 8080})
	t.Cleanup(s.pods.Stop)

	asked := s.scenario.Population
	population := corpus.Generate(corpus.Shape{Namespace: "demo", Services: 2, Pods: 2, Ingresses: 2, TLS: asked.TLS, Annotations: asked.Annotations, Seed: 1})
	if s.tasks, err = step.Tasks(s.scenario, churn.Recording{Population: population}, 1); err != nil {
		t.Fatal(err)
	}
	s.cluster = step.NewCluster("a", client, s.pods, population, s.log)
	if err := s.cluster.StartPods(); err != nil {
		t.Fatal(err)
	}
	var objects []*unstructured.Unstructured
	for _, typed := range population.Objects(s.cluster.Address) {
		object, err := cluster.Object(typed)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	if err := client.CreateAll(t.Context(), objects); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stage) events(t *testing.T) []event.Event {
	t.Helper()
	if err := s.log.Close(); err != nil {
		t.Fatal(err)
	}
	var all []event.Event
	for e, err := range event.Read(&s.out) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

// endpoints returns the pods in the EndpointSlices of a service.
func (s *stage) endpoints(t *testing.T, service string) []string {
	t.Helper()
	list, err := s.look.DiscoveryV1().EndpointSlices("demo").List(t.Context(), metav1.ListOptions{
		LabelSelector: discoveryv1.LabelServiceName + "=" + service,
	})
	if err != nil {
		t.Fatal(err)
	}
	var pods []string
	for _, slice := range list.Items {
		for _, endpoint := range slice.Endpoints {
			pods = append(pods, "demo/"+endpoint.TargetRef.Name)
		}
	}
	slices.Sort(pods)
	return pods
}

// TestTimeline performs a whole timeline: each change is reported before it is written, each write
// is in the API and in the log, and old pods keep serving.
func TestTimeline(t *testing.T) {
	s := newStage(t, "127.60.0.0/16")
	var reported []event.Change
	s.cluster.Watch = func(c event.Change) {
		reported = append(reported, c)
		if len(c.Added) > 0 && slices.Contains(s.endpoints(t, strings.TrimPrefix(c.Service, "demo/")), c.Added[0]) {
			t.Errorf("change %d was written before it was reported", c.ID)
		}
	}
	for _, task := range s.tasks {
		if err := task.Do(t.Context(), s.cluster); err != nil {
			t.Fatal(err)
		}
	}

	ids := func(changes []event.Change) (ids []int) {
		for _, c := range changes {
			ids = append(ids, c.ID)
		}
		return ids
	}
	// Four replacements, the apply and the delete, in the order of time.
	if diff := cmp.Diff([]int{1, 2, 5, 3, 4, 6}, ids(reported)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	members := map[string][]string{}
	for _, c := range reported {
		if c.Service == "" {
			continue
		}
		members[c.Service] = append(members[c.Service], c.Added...)
		if pod, ok := s.pods.Get(c.Removed[0]); !ok || pod.State() != backend.Terminating {
			t.Errorf("pod %s, which has left its service, no longer serves", c.Removed[0])
		}
		if c.Host == "" || c.Pods != 2 {
			t.Errorf("change %+v has no host to probe, or a wrong number of pods", c)
		}
	}
	for service, want := range members {
		slices.Sort(want)
		if diff := cmp.Diff(want, s.endpoints(t, strings.TrimPrefix(service, "demo/"))); diff != "" {
			t.Errorf("endpoints of %s (-want +got):\n%s", service, diff)
		}
	}

	var logged []event.Change
	written := 0
	for _, e := range s.events(t) {
		switch {
		case e.Change != nil:
			logged = append(logged, *e.Change)
		case e.Written != nil:
			written++
			if e.Written.Error != "" {
				t.Errorf("got %+v", e.Written)
			}
		}
	}
	if diff := cmp.Diff(reported, logged); diff != "" || written != len(reported) {
		t.Errorf("%d writes in the log; changes (-reported +logged):\n%s", written, diff)
	}
}

// A write that the API refuses is logged, and the timeline continues.
func TestRefusedWriteIsLogged(t *testing.T) {
	s := newStage(t, "127.61.0.0/16")
	remove := s.tasks[len(s.tasks)-1] // of a manifest that was never applied
	if err := remove.Do(t.Context(), s.cluster); err != nil {
		t.Fatal(err)
	}
	events := s.events(t)
	last := events[len(events)-1]
	if last.Written == nil || !strings.Contains(last.Written.Error, "not found") {
		t.Errorf("the log ends with %+v, want a refused write", last)
	}
}

func TestSplitIntoRounds(t *testing.T) {
	at := func(times ...time.Duration) (tasks []step.Task) {
		for _, t := range times {
			tasks = append(tasks, step.Task{At: t * time.Second})
		}
		return tasks
	}
	times := func(perRound [][]step.Task) (all [][]time.Duration) {
		for _, round := range perRound {
			of := []time.Duration{}
			for _, task := range round {
				of = append(of, task.At/time.Second)
			}
			all = append(all, of)
		}
		return all
	}
	for name, test := range map[string]struct {
		tasks  []step.Task
		length time.Duration
		rounds int
		want   [][]time.Duration
	}{
		"one round":             {at(0, 4, 10), 10 * time.Second, 1, [][]time.Duration{{0, 4, 10}}},
		"two, the end included": {at(0, 4, 5, 10), 10 * time.Second, 2, [][]time.Duration{{0, 4}, {0, 5}}},
		"an empty round":        {at(9), 10 * time.Second, 2, [][]time.Duration{{}, {4}}},
		"no length":             {at(0, 0), 0, 2, [][]time.Duration{{}, {0, 0}}},
	} {
		if diff := cmp.Diff(test.want, times(step.SplitIntoRounds(test.tasks, test.length, test.rounds))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

const otherChurns = `
apiVersion: windtunnel.dev/v1
kind: Scenario
metadata: {name: others}
spec:
  population: {services: 2, pods: 2, tls: true, annotations: {nginx.ingress.kubernetes.io/proxy-body-size: 8m}}
  timeline:
  - {at: 0s, churn: scale-out, rate: 2/s, for: 2s}
  - {at: 0s, churn: new-hosts, rate: 1/s, for: 2s}
  - {at: 0s, churn: touch, rate: 9/s, for: 2s}
  - {at: 3s, apply: shop, see: {host: shop.example, service: svc-001}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: shop, namespace: demo}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: shop, namespace: demo}
spec: {defaultBackend: {service: {name: svc-001, port: {number: 80}}}}
`

// Each kind of churn writes its kind of object, and its changes have what the probes need.
func TestEveryKindOfChurn(t *testing.T) {
	s := newStageOf(t, otherChurns, "127.62.0.0/16")
	var reported []event.Change
	s.cluster.Watch = func(c event.Change) { reported = append(reported, c) }
	for _, task := range s.tasks {
		if err := task.Do(t.Context(), s.cluster); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range s.events(t) {
		if e.Written != nil && e.Written.Error != "" {
			t.Errorf("got %+v", e.Written)
		}
	}
	count := map[string]int{}
	for _, c := range reported {
		count[c.Step]++
		switch c.Step {
		case "scale-out":
			if len(c.Added) != 1 || len(c.Removed) > 0 || c.Host == "" || c.Pods < 3 {
				t.Errorf("got %+v", c)
			}
		case "new-hosts":
			if c.Confirmation == nil || c.Confirmation.Service == "" || c.Confirmation.Status != 200 {
				t.Errorf("%+v", c)
			}
		case "touch":
			if c.Host != "" || c.Confirmation != nil {
				t.Errorf("%+v", c)
			}
		case "apply":
			isLast := strings.HasPrefix(c.Object, "Ingress")
			if diff := cmp.Diff(map[bool]*event.Confirmation{true: {Service: "demo/svc-001", Status: 200}}[isLast], c.Confirmation); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.Object, diff)
			}
		}
	}
	if diff := cmp.Diff(map[string]int{"scale-out": 4, "new-hosts": 2, "touch": 18, "apply": 2}, count); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	for _, service := range []string{"svc-000", "svc-001"} {
		if pods := s.endpoints(t, service); len(pods) != 4 {
			t.Errorf("%s has %v, want its 2 pods and 2 more", service, pods)
		}
	}
	ingresses, err := s.look.NetworkingV1().Ingresses("demo").List(t.Context(), metav1.ListOptions{})
	if err != nil || len(ingresses.Items) != 2+2+1 {
		t.Errorf("%d ingresses, %v", len(ingresses.Items), err)
	}
	touched := 0
	for _, i := range ingresses.Items {
		if i.Annotations["windtunnel.dev/touched"] == "" {
			continue
		}
		touched++
		if len(i.Spec.TLS) != 1 || i.Annotations["nginx.ingress.kubernetes.io/proxy-body-size"] != "8m" {
			t.Errorf("the touch made a relevant change: %+v, %v", i.Spec, i.Annotations)
		}
	}
	if touched == 0 {
		t.Error("no ingress was touched")
	}
}
