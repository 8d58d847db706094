package model

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
)

// source says where the endpoints of a backend come from, so that they can be
// looked up again when slices change and nothing else does.
type source struct {
	fixed     []Endpoint // these, whatever slices say
	service   *corev1.Service
	port      corev1.ServicePort
	otherwise []Endpoint // when there is none
}

// endpoints are those of a source. Whoever asks makes more of them than the
// endpoints of a backend, so that any change of them is a reason to build the
// whole model again.
func (b *builder) endpoints(from source) []Endpoint {
	if from.service != nil {
		b.frozen[snapshot.NameOf(from.service)] = true
	}
	return b.endpointsOfOthers(from)
}

// endpointsOfOthers returns the endpoints of a source without the controller's own
// ports. Kubernetes refuses loopback addresses in EndpointSlices, but other API
// servers may allow them.
func (b *builder) endpointsOfOthers(from source) []Endpoint {
	found := from.endpoints(b.Snapshot, b.options.Zone)
	if from.service == nil {
		return found // our own, or a name, which Lua resolves
	}
	kept := withoutDoors(found, b.options.Ports)
	if len(kept) < len(found) {
		name := snapshot.NameOf(from.service)
		b.frozen[name] = true // so the finding is kept
		b.findService(name, "an endpoint is one of the controller's own ports; it is left out")
	}
	return kept
}

// withoutDoors returns the endpoints that are none of options.Ports.Doors.
func withoutDoors(endpoints []Endpoint, ports options.Ports) []Endpoint {
	isDoor := func(e Endpoint) bool {
		address, err := netip.ParseAddr(e.Address)
		port, _ := strconv.Atoi(e.Port)
		return err == nil && ports.IsDoor(address, port)
	}
	if !slices.ContainsFunc(endpoints, isDoor) {
		return endpoints
	}
	return slices.DeleteFunc(slices.Clone(endpoints), isDoor)
}

// follows tells whether endpoints come from the slices of a service.
func (s source) follows() bool { return s.fixed == nil && s.service != nil }

// endpoints are those that there are now, each once, by address and port: equal
// slices in any order make equal bytes. nil is none.
func (s source) endpoints(cluster snapshot.Snapshot, zone string) []Endpoint {
	if s.fixed != nil {
		return s.fixed
	}
	if !s.follows() {
		return s.otherwise
	}
	if found := readyEndpoints(cluster.EndpointSlices.Of(snapshot.NameOf(s.service)), s.service, s.port, zone); found != nil {
		return found
	}
	return s.otherwise
}

// readyEndpoints are the ready endpoints of a service's port. zone is that of
// the controller's node; without one, hints about zones are not looked at.
func readyEndpoints(endpointSlices []*discoveryv1.EndpointSlice, service *corev1.Service, port corev1.ServicePort, zone string) []Endpoint {
	var all []Endpoint
	hints := hintsOf(service, zone)
	for _, slice := range endpointSlices {
		if slice.AddressType == discoveryv1.AddressTypeFQDN {
			continue // nginx balances over addresses; Kubernetes deprecated the type
		}
		near := hints.in(slice)
		for _, number := range slicePorts(slice.Ports, port) {
			for _, endpoint := range slice.Endpoints {
				if isReady(endpoint) && near(endpoint) {
					all = appendAddresses(all, endpoint, number)
				}
			}
		}
	}
	slices.SortFunc(all, func(x, y Endpoint) int {
		return cmp.Or(cmp.Compare(x.Address, y.Address), cmp.Compare(x.Port, y.Port))
	})
	return slices.Compact(all)
}

func appendAddresses(all []Endpoint, endpoint discoveryv1.Endpoint, port int32) []Endpoint {
	for _, address := range endpoint.Addresses {
		all = append(all, Endpoint{Address: address, Port: strconv.Itoa(int(port))})
	}
	return all
}

// isReady is false only when the slice says so: unknown counts as ready
// (EndpointSlice API), and a terminating pod is not ready.
func isReady(endpoint discoveryv1.Endpoint) bool {
	return endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready
}
