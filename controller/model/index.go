package model

import (
	"reflect"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/snapshot"
)

// index looks up the parts of the last model, and the backends that they share.
type index struct {
	parts     map[*part]bool
	partOf    map[*networkingv1.Ingress]*part
	byHost    map[string]*part
	backends  map[string]*sharedBackend
	followers map[types.NamespacedName]map[string]bool // by service: names of the backends with its endpoints
	frozen    map[types.NamespacedName]map[*part]bool  // by service; see reads
	defined   map[string]int                           // the number of parts that define a variable
	joined    map[string]bool                          // backends that different parts would build differently
}

// sharedBackend is a backend and the parts that refer to it.
type sharedBackend struct {
	backendUse
	*Backend                // nil if no part builds it, because it gets no requests
	built    int            // how many parts build it
	parts    map[*part]bool // including those that do not build it
}

func newIndex() index {
	return index{
		parts:     make(map[*part]bool),
		partOf:    make(map[*networkingv1.Ingress]*part),
		byHost:    make(map[string]*part),
		backends:  make(map[string]*sharedBackend),
		followers: make(map[types.NamespacedName]map[string]bool),
		frozen:    make(map[types.NamespacedName]map[*part]bool),
		defined:   make(map[string]int),
		joined:    make(map[string]bool),
	}
}

func (x index) add(p *part) {
	x.parts[p] = true
	for _, ingress := range p.ingresses {
		x.partOf[ingress] = p
	}
	for _, host := range p.hosts {
		x.byHost[host] = p
	}
	for _, use := range p.uses {
		x.share(use.name, p).backendUse = use
	}
	for i, backend := range p.backends {
		shared := x.share(backend.Name, p)
		if shared.built++; shared.built == 1 {
			x.set(shared, backend)
		}
		p.backends[i] = shared.Backend
	}
	for service := range p.frozen {
		insert(x.frozen, service, p)
	}
	for variable := range p.variables {
		x.defined[variable]++
	}
}

func (x index) remove(p *part) {
	delete(x.parts, p)
	for _, ingress := range p.ingresses {
		delete(x.partOf, ingress)
	}
	for _, host := range p.hosts {
		delete(x.byHost, host)
	}
	for _, backend := range p.backends {
		shared := x.backends[backend.Name]
		if shared.built--; shared.built == 0 {
			x.set(shared, nil)
		}
		x.leave(backend.Name, p)
	}
	for _, use := range p.uses {
		x.leave(use.name, p)
	}
	for service := range p.frozen {
		remove(x.frozen, service, p)
	}
	for variable := range p.variables {
		if x.defined[variable]--; x.defined[variable] == 0 {
			delete(x.defined, variable)
		}
	}
}

// share adds a part to those that refer to a backend, and returns the backend.
func (x index) share(name string, p *part) *sharedBackend {
	shared := x.backends[name]
	if shared == nil {
		shared = &sharedBackend{parts: make(map[*part]bool, 1)}
		x.backends[name] = shared
	}
	shared.parts[p] = true
	return shared
}

// leave removes a part from those that refer to a backend.
func (x index) leave(name string, p *part) {
	shared := x.backends[name]
	if shared == nil {
		return
	}
	if delete(shared.parts, p); len(shared.parts) == 0 {
		delete(x.backends, name)
	}
}

// backend returns the backend of that name that the parts share, or nil.
func (x index) backend(name string) *Backend {
	if shared := x.backends[name]; shared != nil {
		return shared.Backend
	}
	return nil
}

// set replaces a shared backend. If now is nil, it removes the backend.
func (x index) set(shared *sharedBackend, now *Backend) {
	if before := shared.Backend; before != nil && before.source.follows() {
		remove(x.followers, snapshot.NameOf(before.source.service), before.Name)
	}
	shared.Backend = now
	if now != nil && now.source.follows() {
		insert(x.followers, snapshot.NameOf(now.source.service), now.Name)
	}
}

// affected returns the parts that a new use of a backend affects because they share the backend.
func (x index) affected(use backendUse) map[*part]bool {
	shared := x.backends[use.name]
	if shared == nil || !use.joins && !shared.joins && use.settings == shared.settings {
		return nil
	}
	return shared.parts
}

// differing returns the names of backends that parts would build differently if come replaced gone.
func (x index) differing(gone, come []*part) []string {
	leaves := make(map[string]int)
	for _, p := range gone {
		for _, backend := range p.backends {
			leaves[backend.Name]++
		}
	}
	var names []string
	first := make(map[string]*Backend)
	for _, p := range come {
		for _, backend := range p.backends {
			other := first[backend.Name]
			if other == nil {
				other = backend
				if shared := x.backends[backend.Name]; shared != nil && shared.built > leaves[backend.Name] {
					other = shared.Backend
				}
				first[backend.Name] = other
			}
			if !backend.same(other) {
				names = append(names, backend.Name)
			}
		}
	}
	return names
}

// same reports whether two backends are equal.
func (b *Backend) same(other *Backend) bool {
	if b == other {
		return true
	}
	x, y := *b, *other
	x.Endpoints, y.Endpoints = nil, nil
	return sameEndpoints(b.Endpoints, other.Endpoints) && reflect.DeepEqual(x, y)
}

func sameEndpoints(a, b []Endpoint) bool {
	if len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) {
		return true
	}
	return slices.EqualFunc(a, b, Endpoint.same)
}

// insert adds an element to the set with the given key.
func insert[K, E comparable](sets map[K]map[E]bool, key K, element E) {
	if sets[key] == nil {
		sets[key] = make(map[E]bool)
	}
	sets[key][element] = true
}

// remove removes an element from the set with the given key.
func remove[K, E comparable](sets map[K]map[E]bool, key K, element E) {
	if delete(sets[key], element); len(sets[key]) == 0 {
		delete(sets, key)
	}
}
