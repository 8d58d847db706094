package corpus_test

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"windtunnel.dev/sim/corpus"
)

var service = corpus.Service{Namespace: "demo", Name: "svc-000", Port: 8080}

func members(n int) []corpus.Member {
	address := addresses()
	var all []corpus.Member
	for i := range n {
		pod := fmt.Sprintf("svc-000-%05d", i)
		all = append(all, corpus.Member{Pod: pod, Address: address(pod), Serving: true})
	}
	return all
}

func TestSlicesContainEachMemberOnce(t *testing.T) {
	for _, test := range []struct {
		members int
		want    []int
	}{{0, []int{0}}, {1, []int{1}}, {100, []int{100}}, {101, []int{100, 1}}, {250, []int{100, 100, 50}}} {
		var sizes []int
		names, pods := map[string]bool{}, map[string]bool{}
		for _, s := range corpus.Slices(service, members(test.members)) {
			sizes = append(sizes, len(s.Endpoints))
			names[s.Name] = true
			for _, e := range s.Endpoints {
				pods[e.TargetRef.Name] = true
			}
		}
		if diff := cmp.Diff(test.want, sizes); diff != "" {
			t.Errorf("%d members, -want +got:\n%s", test.members, diff)
		}
		if len(names) != len(sizes) || len(pods) != test.members {
			t.Errorf("%d members: %d names of %d slices, %d pods", test.members, len(names), len(sizes), len(pods))
		}
	}
}

// TestSliceNameIsKept checks that a write updates the same slice, whatever its members.
func TestSliceNameIsKept(t *testing.T) {
	if a, b := corpus.Slice(service, members(3)), corpus.Slice(service, nil); a.Name != b.Name {
		t.Errorf("%s became %s", a.Name, b.Name)
	}
	other := service
	other.Namespace = "shop"
	if corpus.SliceName(service, 0) == corpus.SliceName(other, 0) {
		t.Error("services of two namespaces have slices with the same name")
	}
}

func TestConditions(t *testing.T) {
	for _, test := range []struct{ serving, terminating, ready bool }{
		{false, false, false}, // starting
		{true, false, true},
		{true, true, false}, // terminating, still serving
		{false, true, false},
	} {
		member := corpus.Member{Pod: "a", Address: netip.MustParseAddr("127.0.0.2"), Serving: test.serving, Terminating: test.terminating}
		got := corpus.Slice(service, []corpus.Member{member}).Endpoints[0].Conditions
		if *got.Ready != test.ready || *got.Serving != test.serving || *got.Terminating != test.terminating {
			t.Errorf("%+v: ready %v, serving %v, terminating %v", test, *got.Ready, *got.Serving, *got.Terminating)
		}
	}
}

func TestAddressType(t *testing.T) {
	member := corpus.Member{Pod: "a", Address: netip.MustParseAddr("::1")}
	if got := corpus.Slice(service, []corpus.Member{member}).AddressType; got != "IPv6" {
		t.Errorf("a slice with ::1 has address type %s", got)
	}
}

func TestNamesAreUnique(t *testing.T) {
	taken := corpus.NewNames(rand.New(rand.NewPCG(1, 1))).Pod("svc")
	names := corpus.NewNames(rand.New(rand.NewPCG(1, 1)), taken)
	if got := names.Pod("svc"); got == taken {
		t.Errorf("the name %s is already in use", got)
	}
}

// A service with TCP and UDP has a port of each, and its slices have the pods' ports.
func TestStreams(t *testing.T) {
	p := corpus.Generate(corpus.Shape{Namespace: "demo", Services: 1, Pods: 1, Ingresses: 1, StreamPort: 8081})
	service := p.Services[0]
	got := map[string]int32{}
	for _, port := range service.Object().Spec.Ports {
		got[port.Name+"/"+string(port.Protocol)] = port.Port
	}
	if diff := cmp.Diff(map[string]int32{"http/TCP": 80, "tcp/TCP": 9000, "udp/UDP": 9000}, got); diff != "" {
		t.Errorf("ports of the service, -want +got:\n%s", diff)
	}
	got = map[string]int32{}
	for _, port := range corpus.Slice(service, nil).Ports {
		got[*port.Name+"/"+string(*port.Protocol)] = *port.Port
	}
	if diff := cmp.Diff(map[string]int32{"http/TCP": 8080, "tcp/TCP": 8081, "udp/UDP": 8081}, got); diff != "" {
		t.Errorf("ports of its slice, -want +got:\n%s", diff)
	}
	if got := service.StreamBackend(); got != "demo/svc-000:9000" {
		t.Errorf("the backend is %s", got)
	}
}
