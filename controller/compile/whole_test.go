package compile_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/controller/snapshot"
)

// population is a cluster of n services, each with five pods and an ingress. Every tenth ingress
// claims the path of the one before.
type population struct {
	services  []*corev1.Service
	slices    []*discoveryv1.EndpointSlice
	ingresses []*networkingv1.Ingress
	secrets   []*corev1.Secret
}

func (p population) Services() []*corev1.Service                  { return p.services }
func (p population) EndpointSlices() []*discoveryv1.EndpointSlice { return p.slices }
func (p population) Ingresses() []*networkingv1.Ingress           { return p.ingresses }
func (p population) Secrets() []*corev1.Secret                    { return p.secrets }
func (p population) ConfigMaps() []*corev1.ConfigMap              { return nil }

func populate(n int) population {
	var p population
	for i := range n {
		name := fmt.Sprintf("svc-%04d", i)
		meta := metav1.ObjectMeta{Namespace: "demo", Name: name, CreationTimestamp: metav1.Unix(int64(i/3), 0)}
		p.services = append(p.services, &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{
			Ports: []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}},
		}})
		for _, part := range []string{"-a", "-b"} { // both slices have the pod .3
			slice := &discoveryv1.EndpointSlice{
				ObjectMeta:  metav1.ObjectMeta{Namespace: "demo", Name: name + part, Labels: map[string]string{discoveryv1.LabelServiceName: name}},
				AddressType: discoveryv1.AddressTypeIPv4,
				Ports:       []discoveryv1.EndpointPort{{Port: new(int32(8080)), Protocol: new(corev1.ProtocolTCP)}},
			}
			first := 1
			if part == "-b" {
				first = 3
			}
			for pod := first; pod < first+3; pod++ {
				slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{
					Addresses: []string{fmt.Sprintf("10.%d.%d.%d", i/256, i%256, pod)},
				})
			}
			p.slices = append(p.slices, slice)
		}
		host := i
		if i%10 == 9 {
			host--
		}
		p.ingresses = append(p.ingresses, &networkingv1.Ingress{ObjectMeta: meta, Spec: networkingv1.IngressSpec{
			Rules: []networkingv1.IngressRule{{
				Host: fmt.Sprintf("svc-%04d.demo.example", host),
				IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
					Paths: []networkingv1.HTTPIngressPath{{
						Path: "/", PathType: new(networkingv1.PathTypePrefix),
						Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
							Name: name, Port: networkingv1.ServiceBackendPort{Number: 80},
						}},
					}},
				}},
			}},
		}})
	}
	return p
}

// shuffled is the same cluster with its objects, and the endpoints in each slice, in another order.
func (p population) shuffled(seed uint64) population {
	var endpointSlices []*discoveryv1.EndpointSlice
	for _, slice := range shuffle(seed+1, p.slices) {
		slice = slice.DeepCopy()
		slice.Endpoints = shuffle(seed+3, slice.Endpoints)
		endpointSlices = append(endpointSlices, slice)
	}
	return population{shuffle(seed, p.services), endpointSlices, shuffle(seed+2, p.ingresses), p.secrets}
}

func shuffle[T any](seed uint64, list []T) []T {
	list = slices.Clone(list)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

func TestEqualClustersInAnyOrderMakeEqualBytes(t *testing.T) {
	t.Parallel()
	for _, dynamic := range []bool{true, false} {
		opts := parse(flags{DynamicConfiguration: &dynamic}, nil)
		whole := populate(40)
		m, findings := model.Build(snapshot.Take(whole), opts.Options)
		want, err := plan.Next(m, input(opts.Options))
		if err != nil {
			t.Fatal(err)
		}
		if len(findings) != 4 {
			t.Errorf("%d findings, want one for each of the 4 ingresses that claim a taken path: %v", len(findings), findings)
		}
		for seed := range uint64(20) {
			m, again := model.Build(snapshot.Take(whole.shuffled(seed)), opts.Options)
			got, err := plan.Next(m, input(opts.Options))
			if err != nil {
				t.Fatal(err)
			}
			if steps := plan.Diff(want, got); len(steps) > 0 {
				t.Fatalf("seed %d, dynamic %t: the result depends on the order of the objects: %s", seed, dynamic, describe(steps))
			}
			if !reflect.DeepEqual(findings, again) {
				t.Errorf("seed %d: findings differ: %v, %v", seed, findings, again)
			}
		}
	}
}

func TestBuildDoesNotModifyTheCluster(t *testing.T) {
	whole, same := populate(20), populate(20)
	model.Build(snapshot.Take(whole), parse(flags{}, nil).Options)
	if !reflect.DeepEqual(whole, same) {
		t.Error("Build modified objects of the informers' stores")
	}
}

func TestReasonsAreLimited(t *testing.T) {
	t.Parallel()
	opts := parse(flags{}, nil)
	few, _ := model.Build(snapshot.Take(populate(1)), opts.Options)
	many, _ := model.Build(snapshot.Take(populate(100)), opts.Options)
	running, err := plan.Next(few, input(opts.Options))
	if err != nil {
		t.Fatal(err)
	}
	next, err := plan.Next(many, input(opts.Options))
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range plan.Diff(running, next) {
		if len(step.Why) != 21 {
			t.Errorf("%s has %d reasons, want 20 and the number of others", step.Kind, len(step.Why))
		}
	}
	if running.Conf.Equal(next.Conf) {
		t.Error("two different clusters give the same nginx.conf")
	}
}

// BenchmarkSync measures the controller's cost of a change before it configures nginx.
func BenchmarkSync(b *testing.B) {
	whole := populate(1000)
	opts := parse(flags{}, nil)
	b.ReportAllocs()
	for b.Loop() {
		m, _ := model.Build(snapshot.Take(whole), opts.Options)
		if _, err := plan.Next(m, input(opts.Options)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(time.Millisecond), "ms/sync")
}

// BenchmarkDiff measures finding the reasons for a reload.
func BenchmarkDiff(b *testing.B) {
	opts := parse(flags{}, nil)
	var states []plan.State
	for _, n := range []int{1000, 999} {
		m, _ := model.Build(snapshot.Take(populate(n)), opts.Options)
		state, err := plan.Next(m, input(opts.Options))
		if err != nil {
			b.Fatal(err)
		}
		states = append(states, state)
	}
	for b.Loop() {
		plan.Diff(states[0], states[1])
	}
}
