package kubeapi

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"sync"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"windtunnel.dev/sim/kubeapi/internal/cluster"
	"windtunnel.dev/sim/kubeapi/internal/kinds"
	"windtunnel.dev/sim/kubeapi/internal/openapi"
)

// openAPI serves the OpenAPI documents. Building a document takes a while, so openAPI caches it
// until the served resources change.
type openAPI struct {
	version string // of Kubernetes
	state   *cluster.State

	mu   sync.Mutex
	of   *cluster.Registry
	made map[string]openapi.Published
}

func (a *openAPI) get(now *cluster.Registry, name string, make func() (openapi.Published, error)) (openapi.Published, error) {
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
		a.made = map[string]openapi.Published{}
	}
	a.made[name] = p
	return p, nil
}

// serve answers /openapi/v3, the index, and /openapi/v3/<group version>: the documents that kubectl
// explain and kubectl apply read.
func (a *openAPI) serve(w http.ResponseWriter, req *http.Request) {
	name := strings.TrimPrefix(strings.TrimPrefix(req.URL.Path, "/openapi/v3"), "/")
	if name == "" {
		a.serveIndex(w, req)
		return
	}
	for _, gv := range a.state.Served().GroupVersions() {
		if openapi.GroupPath(gv) != name {
			continue
		}
		p, err := a.document(gv)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		// The content of a URL with the right hash never changes.
		if hash := req.URL.Query().Get("hash"); hash == p.Hash {
			w.Header().Set("Cache-Control", "public, immutable")
		}
		serveCached(w, req, "application/json", p)
		return
	}
	w.Header().Set("Cache-Control", noCache)
	w.WriteHeader(http.StatusNotFound)
}

func (a *openAPI) serveIndex(w http.ResponseWriter, req *http.Request) {
	paths := openapi.Document{}
	for _, gv := range a.state.Served().GroupVersions() {
		p, err := a.document(gv)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		paths[openapi.GroupPath(gv)] = openapi.Document{"serverRelativeURL": "/openapi/v3/" + openapi.GroupPath(gv) + "?hash=" + p.Hash}
	}
	p, err := openapi.Publish(openapi.Document{"paths": paths})
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	serveCached(w, req, "text/plain; charset=utf-8", p) // as in kube-apiserver, although the document is JSON
}

func (a *openAPI) document(gv schema.GroupVersion) (openapi.Published, error) {
	now := a.state.Registry()
	return a.get(now, gv.String(), func() (openapi.Published, error) {
		w := openapi.SchemaWriter{Refs: openapi.SchemaRefs, V3: true, Schemas: openapi.Document{}}
		paths := w.Describe(now.Table, gv)
		schemas, err := openapi.CustomSchemas(now.Table, metav1.GroupVersion(gv))
		if err != nil {
			return openapi.Published{}, err
		}
		for name, schema := range schemas {
			w.Schemas[name] = schema
		}
		return openapi.Publish(openapi.Document{
			"openapi": "3.0.0", "info": openapi.Document{"title": "Kubernetes", "version": a.version},
			"paths": paths, "components": openapi.Document{"schemas": w.Schemas},
		})
	})
}

// serveCached answers 304 to a client that already has the document.
func serveCached(w http.ResponseWriter, req *http.Request, mediaType string, p openapi.Published) {
	etag := `"` + p.Hash + `"`
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
	w.Write(p.Body) // an error means that the client has gone
}

const swaggerProtobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

// serveSwagger answers /openapi/v2: all groups in one document, as JSON or, for client-go, as
// protobuf of the gnostic project.
func (a *openAPI) serveSwagger(w http.ResponseWriter, req *http.Request) {
	name, mediaType, make := "v2", "application/json", a.swagger
	// Clients also ask for v2@v1.0, which is not a valid media type.
	if strings.Contains(req.Header.Get("Accept"), "application/com.github.proto-openapi.spec.v2") {
		name, mediaType, make = "v2 protobuf", swaggerProtobuf, a.swaggerProtobuf
	}
	p, err := a.get(a.state.Registry(), name, make)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	serveCached(w, req, mediaType, p)
}

func (a *openAPI) swagger() (openapi.Published, error) {
	w := openapi.SchemaWriter{Refs: "#/definitions/", Schemas: openapi.Document{}}
	paths := openapi.Document{}
	// Without custom resources: v3 contains their schemas, which v2 cannot express in full.
	for _, gv := range kinds.BuiltIn.GroupVersions() {
		maps.Copy(paths, w.Describe(kinds.BuiltIn, gv))
	}
	return openapi.Publish(openapi.Document{
		"swagger": "2.0", "info": openapi.Document{"title": "Kubernetes", "version": a.version},
		"paths": paths, "definitions": w.Schemas,
	})
}

func (a *openAPI) swaggerProtobuf() (openapi.Published, error) {
	p, err := a.swagger()
	if err != nil {
		return p, err
	}
	parsed, err := openapi_v2.ParseDocument(p.Body)
	if err != nil {
		return p, fmt.Errorf("reading our OpenAPI v2 document: %w", err)
	}
	body, err := proto.Marshal(parsed)
	return openapi.Published{Body: body, Hash: p.Hash + "-protobuf"}, err
}
