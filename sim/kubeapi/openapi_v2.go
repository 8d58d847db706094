package kubeapi

import (
	"fmt"
	"maps"
	"net/http"
	"strings"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
)

const swaggerProtobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

// serveSwagger answers /openapi/v2: all groups in one document, as JSON or, for
// client-go, as the protobuf of the gnostic project.
func (s *Server) serveSwagger(w http.ResponseWriter, req *http.Request) {
	name, mediaType, make := "v2", "application/json", s.swagger
	// Clients ask for v2@v1.0, too, which is no media type.
	if strings.Contains(req.Header.Get("Accept"), "application/com.github.proto-openapi.spec.v2") {
		name, mediaType, make = "v2 protobuf", swaggerProtobuf, s.swaggerProtobuf
	}
	p, err := s.openAPI.get(s.state.custom.Load(), name, make)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	serveCached(w, req, mediaType, p)
}

func (s *Server) swagger() (published, error) {
	w := schemaWriter{refs: "#/definitions/", schemas: document{}}
	paths := document{}
	// Without custom resources: v3 has their schemas, which v2 cannot express in full.
	for _, gv := range resources.groupVersions() {
		maps.Copy(paths, w.describe(resources, gv))
	}
	return publish(document{
		"swagger": "2.0", "info": document{"title": "Kubernetes", "version": s.version},
		"paths": paths, "definitions": w.schemas,
	})
}

func (s *Server) swaggerProtobuf() (published, error) {
	p, err := s.swagger()
	if err != nil {
		return p, err
	}
	parsed, err := openapi_v2.ParseDocument(p.body)
	if err != nil {
		return p, fmt.Errorf("reading our OpenAPI v2 document: %w", err)
	}
	body, err := proto.Marshal(parsed)
	return published{body, p.hash + "-protobuf"}, err
}
