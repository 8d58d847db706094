package kubeapi

import (
	"mime"
	"net/http"
	"strings"

	discoveryv2 "k8s.io/api/apidiscovery/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// aggregatedType must be the answer's Content-Type to the letter for client-go
// to take it for aggregated discovery.
const aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

var (
	allVerbs      = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	customVerbs   = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"} // as kube-apiserver orders them
	oneByOneVerbs = []string{"create", "delete", "get", "list", "patch", "update", "watch"}
	statusVerbs   = []string{"get", "patch", "update"}
)

// serveDiscovery answers /api and /apis: aggregated if asked for that, else as a list of groups.
func (s *Server) serveDiscovery(w http.ResponseWriter, req *http.Request) {
	core := req.URL.Path == "/api"
	switch {
	case wantsAggregated(req):
		w.Header().Set("Cache-Control", "public")
		writeDiscovery(w, req, aggregatedType, s.state.served().aggregated(core))
	case core:
		writeDiscovery(w, req, "application/json", &metav1.APIVersions{
			TypeMeta:                   metav1.TypeMeta{Kind: "APIVersions"},
			Versions:                   []string{"v1"},
			ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{{ClientCIDR: "0.0.0.0/0", ServerAddress: req.Host}},
		})
	default:
		list := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for _, group := range s.state.served().groups() {
			if group != "" {
				list.Groups = append(list.Groups, s.state.served().apiGroup(group))
			}
		}
		writeDiscovery(w, req, "application/json", list)
	}
}

func wantsAggregated(req *http.Request) bool {
	for clause := range strings.SplitSeq(req.Header.Get("Accept"), ",") {
		_, params, err := mime.ParseMediaType(clause)
		if err == nil && params["g"] == "apidiscovery.k8s.io" && params["v"] == "v2" && params["as"] == "APIGroupDiscoveryList" {
			return true
		}
	}
	return false
}

// serveGroup answers /api/v1, /apis/<group> and /apis/<group>/<version>; it is
// false for any other path.
func (s *Server) serveGroup(w http.ResponseWriter, req *http.Request) bool {
	if req.Method != http.MethodGet {
		return false
	}
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	table := s.state.served()
	for _, gv := range table.groupVersions() {
		switch strings.Join(parts, "/") {
		case "api/" + gv.Version:
			if gv.Group != "" {
				continue
			}
			writeDiscovery(w, req, "application/json", table.resourceList(gv))
		case "apis/" + gv.Group:
			group := table.apiGroup(gv.Group)
			group.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
			writeDiscovery(w, req, "application/json", &group)
		case "apis/" + gv.Group + "/" + gv.Version:
			writeDiscovery(w, req, "application/json", table.resourceList(gv))
		default:
			continue
		}
		return true
	}
	return false
}

func writeDiscovery(w http.ResponseWriter, req *http.Request, contentType string, obj runtime.Object) {
	body, err := jsonCodec{}.value(obj)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, req, contentType, http.StatusOK, body)
}

func (t table) resourceList(gv schema.GroupVersion) *metav1.APIResourceList {
	list := &metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String()}
	if gv.Group == "" {
		list.APIVersion = "" // as clients older than the field expect
	}
	for _, res := range t {
		if res.groupVersion() != gv {
			continue
		}
		list.APIResources = append(list.APIResources, metav1.APIResource{
			Name: res.name, SingularName: res.singular(), Namespaced: !res.clusterScoped, Kind: res.kind,
			Verbs: res.verbs(), ShortNames: res.short, Categories: res.categories,
		})
		if res.status {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: res.name + "/status", Namespaced: !res.clusterScoped, Kind: res.kind, Verbs: statusVerbs,
			})
		}
		if res.scale || res.custom.scales() {
			list.APIResources = append(list.APIResources, metav1.APIResource{
				Name: res.name + "/scale", Namespaced: !res.clusterScoped, Group: scales.group, Version: scales.version, Kind: scales.kind, Verbs: statusVerbs,
			})
		}
	}
	return list
}

func (res *resource) verbs() []string {
	if res.review != nil {
		return []string{"create"}
	}
	if res.noDeleteAll {
		return oneByOneVerbs
	}
	if res.custom != nil {
		return customVerbs
	}
	return allVerbs
}

// responseKind is what aggregated discovery says of a resource's kind: of built-in ones
// kube-apiserver leaves out that they are of the group and version that they are listed in.
func (res *resource) responseKind() *metav1.GroupVersionKind {
	if res.custom != nil {
		kind := metav1.GroupVersionKind(res.gvk())
		return &kind
	}
	return &metav1.GroupVersionKind{Kind: res.kind}
}

func (res *resource) singular() string {
	if res.singularName != "" {
		return res.singularName
	}
	return strings.ToLower(res.kind)
}

// aggregated is the discovery of the core group, or of all others, in one document.
func (t table) aggregated(core bool) *discoveryv2.APIGroupDiscoveryList {
	list := &discoveryv2.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroupDiscoveryList", APIVersion: "apidiscovery.k8s.io/v2"},
	}
	for _, group := range t.groups() {
		if (group == "") != core {
			continue
		}
		d := discoveryv2.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: group}}
		for _, v := range t.versions(group) {
			gv := schema.GroupVersion{Group: group, Version: v}
			d.Versions = append(d.Versions, discoveryv2.APIVersionDiscovery{Version: v, Resources: t.aggregatedResources(gv), Freshness: discoveryv2.DiscoveryFreshnessCurrent})
		}
		list.Items = append(list.Items, d)
	}
	return list
}

func (t table) aggregatedResources(gv schema.GroupVersion) []discoveryv2.APIResourceDiscovery {
	var found []discoveryv2.APIResourceDiscovery
	for _, res := range t {
		if res.groupVersion() != gv {
			continue
		}
		kind := res.responseKind()
		d := discoveryv2.APIResourceDiscovery{
			Resource: res.name, ResponseKind: kind, Scope: discoveryv2.ScopeNamespace, SingularResource: res.singular(),
			Verbs: res.verbs(), ShortNames: res.short, Categories: res.categories,
		}
		if res.clusterScoped {
			d.Scope = discoveryv2.ScopeCluster
		}
		if res.status {
			d.Subresources = append(d.Subresources, discoveryv2.APISubresourceDiscovery{Subresource: "status", ResponseKind: kind, Verbs: statusVerbs})
		}
		if res.scale || res.custom.scales() {
			scale := metav1.GroupVersionKind(scales.gvk())
			d.Subresources = append(d.Subresources, discoveryv2.APISubresourceDiscovery{Subresource: "scale", ResponseKind: &scale, Verbs: statusVerbs})
		}
		found = append(found, d)
	}
	return found
}
