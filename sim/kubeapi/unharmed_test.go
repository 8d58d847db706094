package kubeapi

import (
	"context"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/kubeapi/internal/codec"
	"windtunnel.dev/sim/kubeapi/internal/kinds"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// everything returns all objects of a server, by resource and key.
func everything(s *Server) map[string]*store.Object {
	all := map[string]*store.Object{}
	for c := range s.state.EveryCollection() {
		objects, _, _ := c.Snapshot()
		for _, o := range objects {
			all[c.Resource.GroupResource().String()+" "+o.Key] = o
		}
	}
	return all
}

// unharmed checks that every existing object is unchanged, unless the request was a successful
// write to it.
func unharmed(t *testing.T, req *http.Request, code int, before, after map[string]*store.Object) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(before)) {
		o := before[key]
		if after[key] != o && !(code/100 == 2 && writesTo(req, o)) {
			t.Errorf("%s %s, answered with %d, changed %s", req.Method, req.URL, code, key)
		}
	}
}

func writesTo(req *http.Request, o *store.Object) bool {
	switch req.Method {
	case http.MethodPut, http.MethodPatch, http.MethodDelete:
	default:
		return false // a POST only creates new objects
	}
	p, ok := resource.ParsePath(req.URL.Path)
	if !ok || req.URL.Query().Has("dryRun") {
		return false
	}
	res := kinds.Find(p.GroupVersion, p.Resource)
	if res == nil {
		return false
	}
	if res.Kind == "Namespace" && req.Method == http.MethodDelete && o.Namespace != "" {
		return p.Name == "" || p.Name == o.Namespace
	}
	return res.Base() == o.Resource && p.Namespace == o.Namespace && (p.Name == o.Name || (p.Name == "" && req.Method == http.MethodDelete))
}

// A request that is too large is refused, in a way that clients understand, and changes nothing.
func TestBounds(t *testing.T) {
	s := start(t)
	cms := client(t, s.Config()).CoreV1().ConfigMaps("default")
	if _, err := cms.Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	before := everything(s)
	for name, test := range map[string]struct {
		method, query, header, body string
		want                        int
	}{
		"body":           {"PUT", "", "", `{"metadata":{"name":"a"},"data":{"k":"` + strings.Repeat("x", codec.MaxBody) + `"}}`, 413},
		"patch":          {"PATCH", "", "", `{"data":{"k":"` + strings.Repeat("x", codec.MaxBody) + `"}}`, 413},
		"label selector": {"GET", "labelSelector=a%20in%20(" + strings.Repeat("b,", store.MaxSelector/2) + "b)", "", "", 400},
		"field selector": {"GET", "fieldSelector=metadata.name!%3Da" + strings.Repeat(",metadata.name!%3Da", store.MaxSelector/16), "", "", 400},
		"header":         {"GET", "", strings.Repeat("x", maxHeader+8<<10), "", 431},
		"URL":            {"GET", "x=" + strings.Repeat("x", maxHeader+8<<10), "", "", 431},
		"continue":       {"GET", "continue=" + strings.Repeat("x", 100<<10), "", "", 400},
	} {
		t.Run(name, func(t *testing.T) {
			path := cmPath
			if test.method != "GET" {
				path += "/a"
			}
			req, err := http.NewRequestWithContext(t.Context(), test.method, s.URL()+path+"?"+test.query, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", map[string]string{"PUT": "application/json", "PATCH": "application/merge-patch+json"}[test.method])
			req.Header.Set("X-Large", test.header)
			resp, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != test.want {
				t.Errorf("got %d, want %d", resp.StatusCode, test.want)
			}
			unharmed(t, req, resp.StatusCode, before, everything(s))
		})
	}
}

// The server answers 404 to an ambiguous path. It does not redirect it, which would turn a POST
// into a GET, and does not serve the path hidden in it.
func TestAmbiguousPathsAreRefused(t *testing.T) {
	s, err := newServer(Options{Anonymous: true})
	if err != nil {
		t.Fatal(err)
	}
	before := everything(s)
	for _, path := range []string{
		"//api/v1/namespaces/default", "/api//v1/namespaces/default", "/api/v1/namespaces//default", "/api/v1/namespaces/default//",
		"/api/v1/pods/../namespaces/default", "/api/v1/./namespaces/default", "/api/v1/namespaces/kube-system/../default", "/healthz/../api/v1/namespaces/default",
		"/api/v1/namespaces%2Fdefault", "/api/v1%2fnamespaces/default", "/api/v1/namespaces/%2E%2E/namespaces/default", "/api/v1/namespaces/..%2Fdefault",
		"/version/%2e%2e/api/v1/namespaces/default",
	} {
		u, err := url.Parse("http://localhost" + path)
		if err != nil {
			t.Fatal(err)
		}
		for _, method := range []string{"GET", "DELETE", "PUT", "POST"} {
			req := httptest.NewRequest(method, "http://localhost/", nil)
			req.URL = u
			w := httptest.NewRecorder()
			s.handler().ServeHTTP(w, req)
			if w.Code != http.StatusNotFound {
				t.Errorf("%s %s: %d", method, path, w.Code)
			}
			unharmed(t, req, w.Code, before, everything(s))
		}
	}
	if ambiguous(&url.URL{Path: "/"}) || ambiguous(&url.URL{Path: "/api/v1/namespaces/default/"}) {
		t.Error("a plain path was refused as ambiguous")
	}
}

// Deleting a collection requires a namespace, as with kube-apiserver.
func TestDeleteCollectionNeedsNamespace(t *testing.T) {
	s := start(t)
	if _, err := client(t, s.Config()).CoreV1().ConfigMaps("default").Create(t.Context(), configMap("a", "1"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	config := rest.CopyConfig(s.Config())
	err := client(t, config).CoreV1().RESTClient().Delete().AbsPath("/api/v1/configmaps").Do(context.Background()).Error()
	if err == nil || configMapsOf(s).Len() != 1 {
		t.Errorf("%v; %d objects remain", err, configMapsOf(s).Len())
	}
}
