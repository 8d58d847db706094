package kubeapi

import (
	"encoding/json"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// serveOpenAPI answers /openapi/v3 and /openapi/v3/<group version> with only what
// kubectl looks for before it sends a manifest: that the server validates fields
// itself. Only custom kinds have schemas, so kubectl explain has nothing to say of others.
func (s *Server) serveOpenAPI(w http.ResponseWriter, req *http.Request) {
	path := strings.TrimPrefix(strings.TrimPrefix(req.URL.Path, "/openapi/v3"), "/")
	documents := map[string]any{"": s.openAPIIndex()}
	for _, gv := range s.table().groupVersions() {
		documents[groupPath(gv)] = s.openAPIDocument(gv)
	}
	found, ok := documents[path]
	if !ok {
		http.Error(w, errUnknownPath.Error(), http.StatusNotFound)
		return
	}
	body, err := json.Marshal(found)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	write(w, req, "application/json", http.StatusOK, body)
}

func groupPath(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "api/" + gv.Version
	}
	return "apis/" + gv.String()
}

// document is a JSON object.
type document = map[string]any

func (s *Server) openAPIIndex() document {
	paths := document{}
	for _, gv := range s.table().groupVersions() {
		paths[groupPath(gv)] = document{"serverRelativeURL": "/openapi/v3/" + groupPath(gv)}
	}
	return document{"paths": paths}
}

// openAPIDocument says of every kind that a PATCH takes fieldValidation.
func (s *Server) openAPIDocument(gv schema.GroupVersion) document {
	paths := document{}
	for _, res := range s.table() {
		if res.groupVersion() != gv {
			continue
		}
		paths["/"+groupPath(gv)+"/"+res.name+"/{name}"] = document{"patch": document{
			"x-kubernetes-group-version-kind": document{"group": res.group, "version": res.version, "kind": res.kind},
			"parameters":                      []document{{"name": "fieldValidation", "in": "query"}},
		}}
	}
	return document{"openapi": "3.0.0", "info": document{"title": "Kubernetes", "version": s.version}, "paths": paths,
		"components": document{"schemas": s.table().customSchemas(metav1.GroupVersion(gv))}}
}
