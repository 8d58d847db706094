package corpus

import (
	"fmt"
	"hash/fnv"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ManagedBy is the managed-by label of the EndpointSlices. It differs from the name of Kubernetes'
// own controller, which would otherwise change them.
const ManagedBy = "windtunnel.dev"

// SliceSize is the maximum number of endpoints in a slice: the default of
// kube-controller-manager --max-endpoints-per-slice.
const SliceSize = 100

// Member is a pod of a service, with the state that an EndpointSlice has of it.
type Member struct {
	Pod         string // name, without the namespace
	Address     netip.Addr
	Serving     bool // its readiness probe succeeds
	Terminating bool // it is being deleted
}

// Slices returns the EndpointSlices of a service with these members, in their order, with up to
// SliceSize members each. A zero Member is a free slot: it keeps the other members in their
// slices. A service without members has one empty slice, as in Kubernetes.
func Slices(service Service, members []Member) []*discoveryv1.EndpointSlice {
	chunks := slices.Collect(slices.Chunk(members, SliceSize))
	if len(chunks) == 0 {
		return []*discoveryv1.EndpointSlice{slice(service, 0, nil)}
	}
	var all []*discoveryv1.EndpointSlice
	for i, chunk := range chunks {
		all = append(all, slice(service, i, chunk))
	}
	return all
}

// Slice returns a single slice with all members, for services that need no second one. The API
// allows 1000 endpoints per slice.
func Slice(service Service, members []Member) *discoveryv1.EndpointSlice {
	return slice(service, 0, members)
}

// SliceName returns the name of a service's slice by its index. It looks like a generated name, but
// is always the same, so that a slice can be updated.
func SliceName(service Service, index int) string {
	hash := fnv.New64a()
	hash.Write([]byte(service.Key()))
	return service.Name + "-" + suffix(hash.Sum64()%suffixes+uint64(index))
}

func slice(service Service, index int, members []Member) *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{
		TypeMeta: metav1.TypeMeta{APIVersion: discoveryv1.SchemeGroupVersion.String(), Kind: "EndpointSlice"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: service.Namespace,
			Name:      SliceName(service, index),
			Labels: map[string]string{
				discoveryv1.LabelServiceName: service.Name,
				discoveryv1.LabelManagedBy:   ManagedBy,
			},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   make([]discoveryv1.Endpoint, 0, len(members)),
		Ports:       service.endpointPorts(),
	}
	for _, m := range members {
		if m == (Member{}) {
			continue
		}
		if m.Address.Is6() {
			s.AddressType = discoveryv1.AddressTypeIPv6
		}
		s.Endpoints = append(s.Endpoints, endpoint(service, m))
	}
	return s
}

// endpoint returns a member as an endpoint. As the EndpointSlice API defines it, ready means
// serving and not terminating.
func endpoint(service Service, m Member) discoveryv1.Endpoint {
	if !m.Address.IsValid() {
		panic(fmt.Sprintf("corpus: pod %s/%s has no address", service.Namespace, m.Pod))
	}
	return discoveryv1.Endpoint{
		Addresses: []string{m.Address.String()},
		Conditions: discoveryv1.EndpointConditions{
			Ready:       new(m.Serving && !m.Terminating),
			Serving:     new(m.Serving),
			Terminating: new(m.Terminating),
		},
		TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: service.Namespace, Name: m.Pod},
	}
}
