// Package discovery describes which resources are served: as lists of groups and resources, and
// aggregated in one document. It stands between the table of resources and clients that look up the
// resources of the server. Its one rule: it is a pure function of that table.
package discovery

import (
	discoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

var (
	allVerbs      = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	customVerbs   = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"} // in kube-apiserver's order
	oneByOneVerbs = []string{"create", "delete", "get", "list", "patch", "update", "watch"}
	statusVerbs   = []string{"get", "patch", "update"}
)

func ResourceList(t resource.Table, gv schema.GroupVersion) *metav1.APIResourceList {
	list := &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String()}
	if gv.Group == "" {
		list.APIVersion = "" // empty, as expected by clients older than the field
	}
	for _, res := range t {
		if res.GroupVersion() != gv {
			continue
		}
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: res.Name, SingularName: res.Singular(), Namespaced: !res.ClusterScoped, Kind: res.Kind,
			Verbs: verbs(res), ShortNames: res.Short, Categories: res.Categories,
		})
		if res.Status {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: res.Name + "/status", Namespaced: !res.ClusterScoped, Kind: res.Kind, Verbs: statusVerbs,
			})
		}
		for _, post := range res.Posts {
			list.APIResources = append(list.APIResources, postResource(res, post))
		}
		if res.Scale || res.Custom.Scales() {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: res.Name + "/scale", Namespaced: !res.ClusterScoped, Group: resource.Scales.Group, Version: resource.Scales.Version, Kind: resource.Scales.Kind, Verbs: statusVerbs,
			})
		}
	}
	return list
}

// postResource returns the entry of a subresource to which clients post. It names the group of the
// posted kind if that differs from the resource's.
func postResource(res *resource.Resource, post resource.Post) metav1.APIResource {
	entry := metav1.APIResource{Name: res.Name + "/" + post.Name, Namespaced: !res.ClusterScoped, Kind: post.Kind.Kind, Verbs: []string{"create"}}
	if post.Kind.Group != res.Group {
		entry.Group, entry.Version = post.Kind.Group, post.Kind.Version
	}
	return entry
}

func verbs(res *resource.Resource) []string {
	if res.Review != nil {
		return []string{"create"}
	}
	if res.NoDeleteAll {
		return oneByOneVerbs
	}
	if res.Custom != nil {
		return customVerbs
	}
	return allVerbs
}

// responseKind is the kind in aggregated discovery. For built-in kinds kube-apiserver leaves out
// the group and version in which they are listed.
func responseKind(res *resource.Resource) *metav1.GroupVersionKind {
	if res.Custom != nil {
		kind := metav1.GroupVersionKind(res.GVK())
		return &kind
	}
	return &metav1.GroupVersionKind{Kind: res.Kind}
}

// Aggregated is the discovery of the core group, or of all others, in one document.
func Aggregated(t resource.Table, core bool) *discoveryv2.APIGroupDiscoveryList {
	list := &discoveryv2.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"},
	}
	for _, group := range t.Groups() {
		if (group == "") != core {
			continue
		}
		d := discoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: group}}
		for _, v := range t.Versions(group) {
			gv := schema.GroupVersion{Group: group, Version: v}
			d.Versions = append(d.Versions, discoveryv2.APIVersionDiscovery{Version: v, Resources: aggregatedResources(t, gv), Freshness: discoveryv2.DiscoveryFreshnessCurrent})
		}
		list.Items = append(list.Items, d)
	}
	return list
}

func aggregatedResources(t resource.Table, gv schema.GroupVersion) []discoveryv2.APIResourceDiscovery {
	var found []discoveryv2.APIResourceDiscovery
	for _, res := range t {
		if res.GroupVersion() != gv {
			continue
		}
		kind := responseKind(res)
		d := discoveryv2.APIResourceDiscovery{
			Resource: res.Name, ResponseKind: kind, Scope: discoveryv2.ScopeNamespace, SingularResource: res.Singular(),
			Verbs: verbs(res), ShortNames: res.Short, Categories: res.Categories,
		}
		if res.ClusterScoped {
			d.Scope = discoveryv2.ScopeCluster
		}
		if res.Status {
			d.Subresources = append(d.Subresources, discoveryv2.APISubresourceDiscovery{Subresource: "status", ResponseKind: kind, Verbs: statusVerbs})
		}
		for _, post := range res.Posts {
			kind := &metav1.GroupVersionKind{Kind: post.Kind.Kind}
			if post.Kind.Group != res.Group {
				kind.Group, kind.Version = post.Kind.Group, post.Kind.Version
			}
			d.Subresources = append(d.Subresources, discoveryv2.APISubresourceDiscovery{Subresource: post.Name, ResponseKind: kind, Verbs: []string{"create"}})
		}
		if res.Scale || res.Custom.Scales() {
			scale := metav1.GroupVersionKind(resource.Scales.GVK())
			d.Subresources = append(d.Subresources, discoveryv2.APISubresourceDiscovery{Subresource: "scale", ResponseKind: &scale, Verbs: statusVerbs})
		}
		found = append(found, d)
	}
	return found
}

func Group(t resource.Table, group string) metav1.APIGroup {
	g := metav1.APIGroup{Name: group}
	for _, v := range t.Versions(group) {
		gv := schema.GroupVersion{Group: group, Version: v}
		g.Versions = append(g.Versions, metav1.GroupVersionForDiscovery{GroupVersion: gv.String(), Version: v})
	}
	g.PreferredVersion = g.Versions[0]
	return g
}
