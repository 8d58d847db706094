package kubeapi

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// table is a list of resources, as it is served.
type table []*resource

// find returns the row of a resource, nil if there is none.
func (t table) find(gv schema.GroupVersion, name string) *resource {
	for _, res := range t {
		if res.name == name && res.version == gv.Version && res.group == gv.Group {
			return res
		}
	}
	return nil
}

func (t table) knows(gv schema.GroupVersion) bool {
	return slices.ContainsFunc(t, func(res *resource) bool { return res.groupVersion() == gv })
}

func (t table) knowsGroup(group string) bool {
	return slices.ContainsFunc(t, func(res *resource) bool { return res.group == group })
}

// isCustom says whether definitions made a group, and nothing else did.
func (t table) isCustom(group string) bool {
	return t.knowsGroup(group) && !slices.ContainsFunc(t, func(res *resource) bool { return res.group == group && res.custom == nil })
}

// groups returns the names of the groups, in the order of their first rows.
func (t table) groups() []string {
	var groups []string
	for _, res := range t {
		if !slices.Contains(groups, res.group) {
			groups = append(groups, res.group)
		}
	}
	return groups
}

// versions returns those of a group, the one that clients should prefer first: v2, v1, v1beta1.
func (t table) versions(group string) []string {
	var versions []string
	for _, res := range t {
		if res.group == group && !slices.Contains(versions, res.version) {
			versions = append(versions, res.version)
		}
	}
	slices.SortStableFunc(versions, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	return versions
}

func (t table) groupVersions() []schema.GroupVersion {
	var gvs []schema.GroupVersion
	for _, group := range t.groups() {
		for _, v := range t.versions(group) {
			gvs = append(gvs, schema.GroupVersion{Group: group, Version: v})
		}
	}
	return gvs
}

func (t table) apiGroup(group string) metav1.APIGroup {
	g := metav1.APIGroup{Name: group}
	for _, v := range t.versions(group) {
		gv := schema.GroupVersion{Group: group, Version: v}
		g.Versions = append(g.Versions, metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: v})
	}
	g.PreferredVersion = g.Versions[0]
	return g
}

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

// table is what the server serves now.
func (s *Server) table() table { return s.custom.Load().table }

// collection returns what holds the objects of res; nil if its definition has
// just been deleted.
func (s *Server) collection(res *resource) *collection {
	if c := s.collections[res.base()]; c != nil {
		return c
	}
	if d := s.custom.Load().definitions[res.groupResource().String()]; d != nil {
		return d.objects
	}
	return nil
}

// everyCollection goes through those of built-in and of custom resources.
func (s *Server) everyCollection() iter.Seq[*collection] {
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
