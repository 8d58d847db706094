package kubeapi

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/openapi3"

	"windtunnel.dev/sim/kubeapi/internal/kinds"
)

func fetch(t *testing.T, url string, header http.Header) (*http.Response, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header = header
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res, body
}

// refs collects the references in a document.
func refs(v any, found map[string]bool) {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			if text, ok := value.(string); ok && key == "$ref" {
				found[text] = true
			}
			refs(value, found)
		}
	case []any:
		for _, value := range v {
			refs(value, found)
		}
	}
}

// Every document of the index is complete, and has the kinds of its group.
func TestOpenAPIDocumentsAreComplete(t *testing.T) {
	t.Parallel()
	s := start(t)
	_, body := fetch(t, s.URL()+"/openapi/v3", nil)
	var index struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	if err := json.Unmarshal(body, &index); err != nil {
		t.Fatal(err)
	}
	if len(index.Paths) != len(kinds.BuiltIn.GroupVersions()) {
		t.Errorf("the index has %d documents for %d group versions", len(index.Paths), len(kinds.BuiltIn.GroupVersions()))
	}
	for name, at := range index.Paths {
		res, body := fetch(t, s.URL()+at.ServerRelativeURL, nil)
		var d struct {
			Components struct{ Schemas map[string]any }
		}
		if err := json.Unmarshal(body, &d); err != nil || res.StatusCode != http.StatusOK || !strings.Contains(res.Header.Get("Cache-Control"), "immutable") {
			t.Fatalf("%s: %s, %v %v", name, res.Status, err, res.Header)
		}
		found := map[string]bool{}
		refs(d.Components.Schemas, found)
		for ref := range found {
			if _, ok := d.Components.Schemas[strings.TrimPrefix(ref, "#/components/schemas/")]; !ok {
				t.Errorf("%s refers to %s, which does not exist", name, ref)
			}
		}
	}
}

func TestOpenAPIHasETags(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, path := range []string{"/openapi/v2", "/openapi/v3", "/openapi/v3/apis/networking.k8s.io/v1"} {
		first, body := fetch(t, s.URL()+path, nil)
		again, nothing := fetch(t, s.URL()+path, http.Header{"If-None-Match": {first.Header.Get("Etag")}})
		if len(body) == 0 || again.StatusCode != http.StatusNotModified || len(nothing) != 0 {
			t.Errorf("%s: %d bytes; again: %s, %d bytes", path, len(body), again.Status, len(nothing))
		}
	}
}

// client-go's own readers can read the documents.
func TestClientsReadOpenAPI(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := client(t, s.Config()).Discovery()
	v2, err := c.OpenAPISchema()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(v2.GetDefinitions().GetAdditionalProperties()); n < 100 {
		t.Errorf("OpenAPI v2 has %d definitions", n)
	}
	doc, err := openapi3.NewRoot(c.OpenAPIV3()).GVSpec(schema.GroupVersion{Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	spec := doc.Components.Schemas["io.k8s.api.core.v1.ServiceSpec"]
	ports := spec.Properties["ports"]
	if ports.Extensions["x-kubernetes-patch-merge-key"] != "port" || ports.Extensions["x-kubernetes-patch-strategy"] != "merge" || ports.Description == "" {
		t.Errorf("ports: %+v", ports)
	}
	if port := doc.Components.Schemas["io.k8s.apimachinery.pkg.util.intstr.IntOrString"]; len(port.OneOf) != 2 || port.Format != "int-or-string" {
		t.Errorf("IntOrString: %+v", port)
	}
	if kinds, ok := doc.Components.Schemas["io.k8s.api.core.v1.Service"].Extensions["x-kubernetes-group-version-kind"].([]any); !ok || len(kinds) != 1 {
		t.Errorf("Service is of kinds %v", kinds)
	}
}

// The paths are those that the server serves, with their operations.
func TestOpenAPIPaths(t *testing.T) {
	t.Parallel()
	s := start(t)
	define(t, s, widgetDefinition)
	for document, paths := range map[string]map[string]string{
		"api/v1": {"/api/v1/pods": "get", "/api/v1/namespaces": "get post", "/api/v1/namespaces/{namespace}/pods": "delete get post",
			"/api/v1/namespaces/{name}/finalize": "put", "/api/v1/namespaces/{namespace}/pods/{name}/binding": "post"},
		"apis/apps/v1":                 {"/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale": "get patch put"},
		"apis/authorization.k8s.io/v1": {"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews": "post", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews/{name}": ""},
		"apis/example.com/v1":          {"/apis/example.com/v1/namespaces/{namespace}/widgets/{name}/status": "get patch put"},
	} {
		_, body := fetch(t, s.URL()+"/openapi/v3/"+document, nil)
		var got struct{ Paths map[string]map[string]any }
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatal(err)
		}
		for path, want := range paths {
			if methods := strings.Join(slices.Sorted(maps.Keys(got.Paths[path])), " "); methods != want {
				t.Errorf("%s has %s", path, methods)
			}
		}
	}
}
