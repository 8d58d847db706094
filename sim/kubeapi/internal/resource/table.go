package resource

import (
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// Table is a list of served resources.
type Table []*Resource

// Find returns the row of a resource, or nil if it does not exist.
func (t Table) Find(gv schema.GroupVersion, name string) *Resource {
	for _, res := range t {
		if res.Name == name && res.Version == gv.Version && res.Group == gv.Group {
			return res
		}
	}
	return nil
}

// HasBuiltIn reports whether a group has a resource that does not come from a definition.
func (t Table) HasBuiltIn(group string) bool {
	return slices.ContainsFunc(t, func(res *Resource) bool { return res.Group == group && res.Custom == nil })
}

// Groups returns the names of the groups, in the order of their first rows.
func (t Table) Groups() []string {
	var groups []string
	for _, res := range t {
		if !slices.Contains(groups, res.Group) {
			groups = append(groups, res.Group)
		}
	}
	return groups
}

// Versions returns the versions of a group, the preferred one first: v2, v1, v1beta1.
func (t Table) Versions(group string) []string {
	var versions []string
	for _, res := range t {
		if res.Group == group && !slices.Contains(versions, res.Version) {
			versions = append(versions, res.Version)
		}
	}
	slices.SortStableFunc(versions, func(a, b string) int { return version.CompareKubeAwareVersionStrings(b, a) })
	return versions
}

func (t Table) GroupVersions() []schema.GroupVersion {
	var gvs []schema.GroupVersion
	for _, group := range t.Groups() {
		for _, v := range t.Versions(group) {
			gvs = append(gvs, schema.GroupVersion{Group: group, Version: v})
		}
	}
	return gvs
}
