package kubeapi

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// registry is everything that is served: the built-in table and what
// CustomResourceDefinitions added. It never changes; a change is another registry.
type registry struct {
	table       table
	definitions map[string]*definition // by name: plural.group
}

func newRegistry(definitions map[string]*definition) *registry {
	r := &registry{slices.Clone(resources), definitions}
	for _, d := range slices.SortedFunc(maps.Values(definitions), compareDefinitions) {
		r.table = append(r.table, d.versions...)
	}
	return r
}

func compareDefinitions(a, b *definition) int {
	return cmp.Or(cmp.Compare(a.group(), b.group()), cmp.Compare(a.name(), b.name()))
}

// served is the table of what the server serves now.
func (s *clusterState) served() table { return s.custom.Load().table }

// collection returns what holds the objects of res; nil if its definition has
// just been deleted.
func (s *clusterState) collection(res *resource) *collection {
	if c := s.collections[res.base()]; c != nil {
		return c
	}
	if d := s.custom.Load().definitions[res.groupResource().String()]; d != nil {
		return d.objects
	}
	return nil
}

// everyCollection goes through those of built-in and of custom resources.
func (s *clusterState) everyCollection() iter.Seq[*collection] {
	return func(yield func(*collection) bool) {
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
