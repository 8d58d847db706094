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

// Memo builds one model after another and does again only what a change of the
// cluster can have touched: where nothing but endpoints changed, only the
// backends that they belong to. What it builds is what Build would. It goes by
// the identity of objects, which nobody writes to.
//
// A zero Memo has built nothing.
type Memo struct {
	cluster  snapshot.Snapshot
	options  options.Options
	model    *Model
	findings []Finding
}

// origin is what a Memo must know of the building of a model.
type origin struct {
	sets map[*networkingv1.Ingress]*parsed
	// decisive are the backends whose first or last endpoint changes more than
	// themselves; frozen, the services any change of whose endpoints does.
	decisive map[string]bool
	frozen   map[types.NamespacedName]bool
	// read is what Secrets hold, as far as anybody asked for it.
	read map[*corev1.Secret]tls.Contents
	// followers are the backends, by their place, whose endpoints come from a service's slices.
	followers map[types.NamespacedName][]int
	// configMaps are those that were looked for.
	configMaps map[types.NamespacedName]bool
	// secrets are the Secrets that were looked up.
	secrets map[types.NamespacedName]bool
}

// Build is the model of the cluster and the options.
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

// sameObjects is quick where the maps are one, as snapshots of a Ledger share
// them.
func sameObjects[T comparable](a, b map[types.NamespacedName]T) bool {
	return reflect.ValueOf(a).Pointer() == reflect.ValueOf(b).Pointer() || maps.Equal(a, b)
}

// withEndpointsOf is the last model with the endpoints of another moment, nil
// if those change more than their backends.
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
			if len(withoutDoors(endpoints, m.options.Ports)) < len(endpoints) {
				return nil // there is a finding to make
			}
			if last.decisive[backend.Name] && (len(endpoints) == 0) != (len(backend.Endpoints) == 0) {
				return nil
			}
			if !slices.Equal(endpoints, backend.Endpoints) {
				moved := *backend
				moved.Endpoints = endpoints
				next.Backends[i] = &moved
			}
		}
	}
	return &next
}

// followers are the places of the backends that follow each service.
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

// SameButEndpoints tells whether two models of one Memo can differ in nothing
// but the endpoints of their backends.
func (m *Model) SameButEndpoints(other *Model) bool {
	return other != nil && m.origin != nil && m.origin == other.origin
}

// ConfigMaps are those that were looked for, besides the controller's own, in
// any order.
func (m *Model) ConfigMaps() iter.Seq[types.NamespacedName] { return maps.Keys(m.origin.configMaps) }

// ReadsSecret reports whether that Secret was looked up.
func (m *Model) ReadsSecret(secret types.NamespacedName) bool { return m.origin.secrets[secret] }

// Reads tells whether that ConfigMap was looked for.
func (m *Model) Reads(configMap types.NamespacedName) bool { return m.origin.configMaps[configMap] }
