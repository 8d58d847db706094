package cluster

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"windtunnel.dev/sim/kubeapi/internal/kinds"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// Registry holds everything that is served: the built-in table and the resources of
// CustomResourceDefinitions. A registry never changes; a change creates a new one.
type Registry struct {
	Table       resource.Table
	definitions map[string]*definition // by name: plural.group
}

func newRegistry(definitions map[string]*definition) *Registry {
	r := &Registry{slices.Clone(kinds.BuiltIn), definitions}
	for _, d := range slices.SortedFunc(maps.Values(definitions), compareDefinitions) {
		r.Table = append(r.Table, d.versions...)
	}
	return r
}

func compareDefinitions(a, b *definition) int {
	return cmp.Or(cmp.Compare(a.group(), b.group()), cmp.Compare(a.name(), b.name()))
}

// Registry returns the current registry.
func (s *State) Registry() *Registry { return s.custom.Load() }

// Served returns the table of all resources that are served now.
func (s *State) Served() resource.Table { return s.custom.Load().Table }

// Collection returns the collection of res, or nil if its definition has just been deleted.
func (s *State) Collection(res *resource.Resource) *store.Collection {
	if c := s.collections[res.Base()]; c != nil {
		return c
	}
	if d := s.custom.Load().definitions[res.GroupResource().String()]; d != nil {
		return d.objects
	}
	return nil
}

// EveryCollection iterates over the collections of built-in and custom resources.
func (s *State) EveryCollection() iter.Seq[*store.Collection] {
	return func(yield func(*store.Collection) bool) {
		for _, c := range s.collections {
			if !yield(c) {
				return
			}
		}
		for _, d := range s.custom.Load().definitions {
			if !yield(d.objects) {
				return
			}
		}
	}
}
