package kubeapi

import (
	"mime"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/kubeapi/internal/codec"
	"windtunnel.dev/sim/kubeapi/internal/discovery"
	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// aggregatedType is the Content-Type by which client-go recognizes aggregated discovery; it must
// match exactly.
const aggregatedType = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"

// serveDiscovery answers /api and /apis: aggregated if the client asks for that, else as a list of
// groups.
func serveDiscovery(w http.ResponseWriter, req *http.Request, served resource.Table) {
	core := req.URL.Path == "/api"
	switch {
	case wantsAggregated(req):
		w.Header().Set("Cache-Control", "public")
		writeDiscovery(w, req, aggregatedType, discovery.Aggregated(served, core))
	case core:
		writeDiscovery(w, req, "application/json", &metav1.APIVersions{
			TypeMeta:                   metav1.TypeMeta{Kind: "APIVersions"},
			Versions:                   []string{"v1"},
			ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{{ClientCIDR: "0.0.0.0/0", ServerAddress: req.Host}},
		})
	default:
		list := &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for _, group := range served.Groups() {
			if group != "" {
				list.Groups = append(list.Groups, discovery.Group(served, group))
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

// serveGroup answers /api/v1, /apis/<group> and /apis/<group>/<version>. It returns false for any
// other path.
func serveGroup(w http.ResponseWriter, req *http.Request, served resource.Table) bool {
	if req.Method != http.MethodGet {
		return false
	}
	parts := strings.Split(strings.Trim(req.URL.Path, "/"), "/")
	for _, gv := range served.GroupVersions() {
		switch strings.Join(parts, "/") {
		case "api/" + gv.Version:
			if gv.Group != "" {
				continue
			}
			writeDiscovery(w, req, "application/json", discovery.ResourceList(served, gv))
		case "apis/" + gv.Group:
			group := discovery.Group(served, gv.Group)
			group.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
			writeDiscovery(w, req, "application/json", &group)
		case "apis/" + gv.Group + "/" + gv.Version:
			writeDiscovery(w, req, "application/json", discovery.ResourceList(served, gv))
		default:
			continue
		}
		return true
	}
	return false
}

func writeDiscovery(w http.ResponseWriter, req *http.Request, contentType string, obj runtime.Object) {
	body, err := codec.JSON{}.Value(obj)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, req, contentType, http.StatusOK, body)
}
