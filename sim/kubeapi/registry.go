package kubeapi

import (
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
