package model

import (
	"iter"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
	"windtunnel.dev/controller/tls"
)

// Memo builds a sequence of models and repeats only the work that a change of the cluster can
// affect. If only endpoints changed, it rebuilds only the backends of these endpoints. The results
// are the same as those of Build. It compares objects by identity, because nobody modifies them.
//
// The zero Memo is ready to use.
type Memo struct {
	cluster  snapshot.Snapshot
	options  options.Options
	model    *Model
	findings []Finding
}

// origin is what a Memo remembers about how a model was built.
type origin struct {
	sets map[*networkingv1.Ingress]*parsed
	// decisive are the backends whose first or last endpoint affects more than the backend itself.
	// frozen are the services for which any change of endpoints does.
	decisive map[string]bool
	frozen   map[types.NamespacedName]bool
	// read caches the parsed contents of the Secrets that were looked up.
	read map[*corev1.Secret]tls.Contents
	// followers maps a service to the indexes of the backends that get their endpoints from its
	// slices.
	followers map[types.NamespacedName][]int
	// configMaps are the ConfigMaps that were looked up, including missing ones.
	configMaps map[types.NamespacedName]bool
	// secrets are the Secrets that were looked up, including missing ones.
	secrets map[types.NamespacedName]bool
}

// Build returns the model of the cluster and the options.
func (m *Memo) Build(cluster snapshot.Snapshot, opts options.Options) (*Model, []Finding) {
	sameOptions := m.model != nil && reflect.DeepEqual(m.options, opts)
	var next *Model
	if sameOptions && m.sameButSlices(cluster) {
		next = m.withEndpointsOf(cluster)
	}
	if next == nil {
		var before map[*networkingv1.Ingress]*parsed
		if sameOptions {
			before = m.model.origin.sets
		}
		b := newBuilder(cluster, opts, before)
		if m.model != nil {
			b.readBefore = m.model.origin.read
		}
		next, m.findings = b.build()
	}
	m.cluster, m.options, m.model = cluster, opts, next
	return next, m.findings
}

func (m *Memo) sameButSlices(now snapshot.Snapshot) bool {
	before := m.cluster
	for name := range m.model.origin.configMaps {
		if before.ConfigMaps[name] != now.ConfigMaps[name] {
			return false
		}
	}
	return slices.Equal(before.Ingresses, now.Ingresses) && sameObjects(before.Services, now.Services) && sameObjects(before.Secrets, now.Secrets)
}

// sameObjects compares two maps. It is fast if both are the same map, which the snapshots of a
// Ledger share if nothing of that kind changed.
func sameObjects[T comparable](a, b map[types.NamespacedName]T) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() || maps.Equal(a, b)
}

// withEndpointsOf returns the last model with the endpoints of the given cluster, or nil if the
// change of endpoints affects more than their backends.
func (m *Memo) withEndpointsOf(cluster snapshot.Snapshot) *Model {
	last, next := m.model.origin, *m.model
	next.Backends = slices.Clone(next.Backends)
	for service := range cluster.ChangedServices(m.cluster) {
		if last.frozen[service] {
			return nil
		}
		for _, i := range last.followers[service] {
			backend := next.Backends[i]
			endpoints := backend.source.endpoints(cluster, m.options.Zone)
			if len(withoutProtected(endpoints, m.options.Ports)) < len(endpoints) {
				return nil // a full build reports a finding
			}
			if last.decisive[backend.Name] && (len(endpoints) == 0) != (len(backend.Endpoints) == 0) {
				return nil
			}
			if !slices.EqualFunc(endpoints, backend.Endpoints, Endpoint.same) {
				moved := *backend
				moved.Endpoints = endpoints
				next.Backends[i] = &moved
			}
		}
	}
	return &next
}

// followers maps each service to the indexes of the backends that get their endpoints from it.
func followers(backends Backends) map[types.NamespacedName][]int {
	places := make(map[types.NamespacedName][]int)
	for i, backend := range backends {
		if backend.source.follows() {
			service := snapshot.NameOf(backend.source.service)
			places[service] = append(places[service], i)
		}
	}
	return places
}

// SameButEndpoints reports whether two models of one Memo are equal except for the endpoints of
// their backends.
func (m *Model) SameButEndpoints(other *Model) bool {
	return other != nil && m.origin != nil && m.origin == other.origin
}

// ConfigMaps returns the ConfigMaps that were looked up, besides the controller's own, in any
// order.
func (m *Model) ConfigMaps() iter.Seq[types.NamespacedName] { return maps.Keys(m.origin.configMaps) }

// ReadsSecret reports whether the Secret was looked up.
func (m *Model) ReadsSecret(secret types.NamespacedName) bool { return m.origin.secrets[secret] }

// Reads reports whether the ConfigMap was looked up.
func (m *Model) Reads(configMap types.NamespacedName) bool { return m.origin.configMaps[configMap] }
