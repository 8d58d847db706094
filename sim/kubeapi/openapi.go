package kubeapi

import (
	"crypto/sha512"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// document is a JSON object.
type document = map[string]any

// published is a document as it is served, with the hash that clients cache it by.
type published struct {
	body []byte
	hash string
}

func publish(d document) (published, error) {
	body, err := json.Marshal(d)
	if err != nil {
		return published{}, fmt.Errorf("encoding an OpenAPI document: %w", err)
	}
	return published{body, fmt.Sprintf("%X", sha512.Sum512(body))}, nil
}

// openAPI keeps the documents that have been asked for, as long as the same
// resources are served: making one takes a while.
type openAPI struct {
	mu   sync.Mutex
	of   *registry
	made map[string]published
}

func (a *openAPI) get(now *registry, name string, make func() (published, error)) (published, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of != now {
		a.of, a.made = now, nil
	}
	if p, ok := a.made[name]; ok {
		return p, nil
	}
	p, err := make()
	if err != nil {
		return p, err
	}
	if a.made == nil {
		a.made = map[string]published{}
	}
	a.made[name] = p
	return p, nil
}

// serveOpenAPI answers /openapi/v3, the index, and /openapi/v3/<group version>:
// what kubectl explain prints, and what kubectl apply looks at.
func (s *Server) serveOpenAPI(w http.ResponseWriter, req *http.Request) {
	name := strings.TrimPrefix(strings.TrimPrefix(req.URL.Path, "/openapi/v3"), "/")
	if name == "" {
		s.serveOpenAPIIndex(w, req)
		return
	}
	for _, gv := range s.state.served().groupVersions() {
		if groupPath(gv) != name {
			continue
		}
		p, err := s.openAPIOf(gv)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		// A URL with the right hash names these bytes for ever.
		if hash := req.URL.Query().Get("hash"); hash == p.hash {
			w.Header().Set("Cache-Control", "public, immutable")
		}
		serveCached(w, req, "application/json", p)
		return
	}
	w.Header().Set("Cache-Control", noCache)
	w.WriteHeader(http.StatusNotFound)
}

func (s *Server) serveOpenAPIIndex(w http.ResponseWriter, req *http.Request) {
	paths := document{}
	for _, gv := range s.state.served().groupVersions() {
		p, err := s.openAPIOf(gv)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		paths[groupPath(gv)] = document{"serverRelativeURL": "/openapi/v3/" + groupPath(gv) + "?hash=" + p.hash}
	}
	p, err := publish(document{"paths": paths})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	serveCached(w, req, "text/plain; charset=utf-8", p) // as kube-apiserver's, though it is JSON
}

func (s *Server) openAPIOf(gv schema.GroupVersion) (published, error) {
	now := s.state.custom.Load()
	return s.openAPI.get(now, gv.String(), func() (published, error) {
		w := schemaWriter{refs: schemaRefs, v3: true, schemas: document{}}
		paths := w.describe(now.table, gv)
		schemas, err := now.table.customSchemas(metav1.GroupVersion(gv))
		if err != nil {
			return published{}, err
		}
		for name, schema := range schemas {
			w.schemas[name] = schema
		}
		return publish(document{
			"openapi": "3.0.0", "info": document{"title": "Kubernetes", "version": s.version},
			"paths": paths, "components": document{"schemas": w.schemas},
		})
	})
}

// serveCached answers 304 to a client that has the document.
func serveCached(w http.ResponseWriter, req *http.Request, mediaType string, p published) {
	etag := `"` + p.hash + `"`
	w.Header().Set("Etag", etag)
	w.Header().Set("Vary", "Accept")
	if req.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	cacheControl := w.Header().Get("Cache-Control")
	w.Header().Set("Content-Type", mediaType)
	if cacheControl == "" {
		w.Header().Set("Cache-Control", "no-cache, private")
	}
	w.Write(p.body) // an error means that the client has gone
}

func groupPath(gv schema.GroupVersion) string {
	if gv.Group == "" {
		return "api/" + gv.Version
	}
	return "apis/" + gv.String()
}
