package model

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"sync"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
)

// source describes where the endpoints of a backend come from, so they can be looked up again if
// only slices change.
type source struct {
	fixed     []Endpoint // takes precedence over the slices of service
	service   *corev1.Service
	port      corev1.ServicePort
	otherwise []Endpoint // used if there are no endpoints
}

// endpoints returns the endpoints of a source, for callers that use them for more than the
// endpoints of a backend: any change of them makes Memo rebuild the parts that depend on them.
func (b *builder) endpoints(from source) []Endpoint {
	if from.service != nil {
		b.frozen[snapshot.NameOf(from.service)] = true
	}
	return b.allowedEndpoints(from)
}

// allowedEndpoints returns the endpoints of a source without those that are ports of the controller
// itself. Kubernetes rejects loopback addresses in EndpointSlices, but other API servers may allow
// them.
func (b *builder) allowedEndpoints(from source) []Endpoint {
	found := b.found.of(from, func() []Endpoint { return from.endpoints(b.Snapshot, b.options.Zone) })
	if from.service == nil {
		return found // nginx's own server, or a name that Lua resolves
	}
	kept := withoutProtected(found, b.options.Ports)
	if len(kept) < len(found) {
		name := snapshot.NameOf(from.service)
		b.frozen[name] = true // a rebuild repeats the finding
		b.findService(name, "an endpoint is one of the controller's own ports; it is left out")
	}
	return kept
}

// foundEndpoints caches the endpoints of sources in one cluster, because many parts can share a
// service. It is safe for concurrent use.
type foundEndpoints struct {
	mu    sync.Mutex
	known map[sourceKey][]Endpoint
}

// sourceKey identifies a source that follows slices.
type sourceKey struct {
	service *corev1.Service
	port    corev1.ServicePort
}

func newFoundEndpoints() *foundEndpoints {
	return &foundEndpoints{known: make(map[sourceKey][]Endpoint)}
}

// of returns the endpoints of a source. If they are not cached, it calls find.
func (f *foundEndpoints) of(from source, find func() []Endpoint) []Endpoint {
	if !from.follows() || from.otherwise != nil { // the default backend's, which parts do not share
		return find()
	}
	key := sourceKey{from.service, from.port}
	f.mu.Lock()
	found, known := f.known[key]
	f.mu.Unlock()
	if !known {
		found = find()
		f.mu.Lock()
		f.known[key] = found
		f.mu.Unlock()
	}
	return found
}

// withoutProtected returns the endpoints that do not lead to protected ports.
func withoutProtected(endpoints []Endpoint, ports options.Ports) []Endpoint {
	isProtected := func(e Endpoint) bool {
		address, err := netip.ParseAddr(e.Address)
		port, _ := strconv.Atoi(e.Port)
		return err == nil && ports.IsProtected(address, port)
	}
	if !slices.ContainsFunc(endpoints, isProtected) {
		return endpoints
	}
	return slices.DeleteFunc(slices.Clone(endpoints), isProtected)
}

// follows reports whether the endpoints come from the slices of a service.
func (s source) follows() bool { return s.fixed == nil && s.service != nil }

// endpoints returns the current endpoints without duplicates, sorted by address and port, so the
// order of slices has no effect. It returns nil if there are none.
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

// readyEndpoints returns the ready endpoints of a service port. zone is the zone of the
// controller's node; if it is empty, topology hints are ignored.
func readyEndpoints(endpointSlices []*discoveryv1.EndpointSlice, service *corev1.Service, port corev1.ServicePort, zone string) []Endpoint {
	var all []Endpoint
	hints := hintsOf(service, zone)
	for _, slice := range endpointSlices {
		if slice.AddressType == discoveryv1.AddressTypeFQDN {
			continue // nginx needs addresses, and Kubernetes deprecated the type
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
	return slices.CompactFunc(all, Endpoint.samePlace)
}

// appendAddresses appends the addresses of an endpoint. It leaves out texts that are no IP addresses:
// Kubernetes rejects them, but other API servers may not, and nginx.conf contains the addresses.
func appendAddresses(all []Endpoint, endpoint discoveryv1.Endpoint, port int32) []Endpoint {
	for _, address := range endpoint.Addresses {
		if parsed, err := netip.ParseAddr(address); err != nil || parsed.Zone() != "" {
			continue
		}
		all = append(all, Endpoint{Address: address, Port: strconv.Itoa(int(port)), Target: endpoint.TargetRef})
	}
	return all
}

// isReady reports whether an endpoint is ready. An unknown state counts as ready (EndpointSlice
// API). A terminating pod is not ready.
func isReady(endpoint discoveryv1.Endpoint) bool {
	return endpoint.Conditions.Ready == nil || *endpoint.Conditions.Ready
}
