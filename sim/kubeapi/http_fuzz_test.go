package kubeapi

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"windtunnel.dev/sim/kubeapi/internal/codec"
)

// The server answers any request with a valid HTTP status, does not panic, and changes an object
// only by a successful write to it. It answers 500 only where kube-apiserver does, too.
func FuzzHTTP(f *testing.F) {
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	cm.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"})
	proto, err := codec.Protobuf{}.Value(cm)
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []struct{ method, url, contentType, accept, body string }{
		{"GET", "/api/v1/pods?limit=1&continue=eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0", "", "", ""},
		{"GET", "/api/v1/pods?watch=1&timeoutSeconds=1&resourceVersion=1", "", codec.ProtobufType, ""},
		{"GET", "/apis/networking.k8s.io/v1/ingresses?fieldSelector=metadata.name%3Da&labelSelector=a+in+(b)", "", "application/json;as=Table;v=v1;g=meta.k8s.io", ""},
		{"GET", "/apis", "", aggregatedType, ""},
		{"POST", cmPath, "application/json", "", `{"metadata":{"name":"a"},"data":{"k":"v"}}`},
		{"POST", cmPath, "application/yaml", "", "metadata: {generateName: a}"},
		{"POST", cmPath, codec.ProtobufType, codec.ProtobufType, string(proto)},
		{"PUT", cmPath + "/seed", "application/json", "", `{"metadata":{"name":"seed"}}`},
		{"PATCH", cmPath + "/seed", "application/json-patch+json", "", `[{"op":"add","path":"/data","value":{"a":"b"}},{"op":"copy","from":"/data","path":"/x"}]`},
		{"PATCH", cmPath + "/seed", "application/merge-patch+json", "", `{"metadata":{"labels":{"a":null}}}`},
		{"PATCH", "/api/v1/namespaces/default/services/seed", "application/strategic-merge-patch+json", "", `{"spec":{"$setElementOrder/ports":[{"port":1}],"ports":[{"port":1,"$patch":"delete"}]}}`},
		{"PATCH", "/api/v1/namespaces/default/services/seed/status", "application/strategic-merge-patch+json", "", `{"status":{"conditions":[{"type":"a"}]}}`},
		{"PATCH", cmPath + "/seed?fieldManager=f", "application/apply-patch+yaml", "", "{apiVersion: v1, kind: ConfigMap, metadata: {name: seed}, data: {a: b}}"},
		{"PATCH", "/api/v1/namespaces/default/services/new?fieldManager=f&force=true", "application/apply-patch+yaml", "", `{"apiVersion":"v1","kind":"Service","metadata":{"name":"new"},"spec":{"ports":[{"port":1},{"port":1}]}}`},
		{"PATCH", cmPath + "/seed", "application/merge-patch+json", "", `{"metadata":{"managedFields":[{"manager":"x","operation":"Update","fieldsV1":{"f:data":{}}}]}}`},
		{"PUT", "/apis/apps/v1/namespaces/default/deployments/seed/scale", "application/json", "", `{"metadata":{"name":"seed"},"spec":{"replicas":3}}`},
		{"PATCH", "/apis/apps/v1/namespaces/default/deployments/seed/scale?fieldManager=f", "application/apply-patch+yaml", "", "{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: seed}, spec: {replicas: 2}}"},
		{"DELETE", cmPath + "/seed?propagationPolicy=Foreground", "", "", ""},
		{"DELETE", cmPath + "/seed", "application/json", "", `{"preconditions":{"uid":"x"}}`},
		{"DELETE", "/api/v1/namespaces/default", "", "", ""},
		{"DELETE", "/api/v1/namespaces/default/services?labelSelector=a%21%3Db&dryRun=All", "", "", ""},
		{"DELETE", cmPath + "/seed", codec.ProtobufType, "", "k8s\x00\n\x00\x12\x02\x08\x00"},
		{"PATCH", cmPath + "/seed", "application/json-patch+json", "", `[{"op":"add","path":"/metadata/finalizers","value":["a.b/c"]},{"op":"test","path":"/metadata/finalizers","value":[null]}]`},
		{"PATCH", "/api/v1/namespaces/default/services/seed", "application/strategic-merge-patch+json", "", `{"spec":{"$setElementOrder/ports":[1]}}`},
		{"PATCH", "/api/v1/namespaces/default/services/seed", "application/strategic-merge-patch+json", "", `{"spec":{"ports":[{"$retainKeys":[[]]}]}}`},
		{"GET", "//api/v1/../v1/namespaces%2Fdefault", "", "", ""},
		{"PUT", cmPath + "/%2e%2e/seed", "application/json", "", `{"metadata":{"name":"seed"}}`},
		{"PUT", cmPath + "/seed?fieldValidation=Strict", "application/json", "", `{"metadata":{"name":"seed","name":"x"},"datum":1}`},
		{"PUT", "/api/v1/namespaces/default", "application/json", "", `{"metadata":{"name":"default","finalizers":["a/b"]}}`},
		{"PATCH", cmPath + "/seed", "application/merge-patch+json", "", `{"metadata":{"name":"other","uid":"","finalizers":["x"]}}`},
		{"PATCH", "/api/v1/namespaces/default/services/seed", "application/strategic-merge-patch+json", "", `{"$patch":"replace","spec":{"$retainKeys":["ports"]}}`},
		{"PATCH", cmPath + "/seed", "application/apply-patch+yaml", "", "apiVersion: v1\nkind: ConfigMap\nmetadata: &a {name: seed}\ndata: *a"},
		{"POST", "/api/v1/namespaces/default/secrets", "application/yaml", "", "data: {k: !!binary \"!\"}"},
		{"POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", "application/json", "", `{"metadata":{"name":"a"},"addressType":"IPv4","endpoints":[{"addresses":["::"]}]}`},
		{"GET", "/api/v1/services?resourceVersion=18446744073709551615&resourceVersionMatch=Exact", "", "", ""},
		{"GET", "/api/v1/services?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=-1", "", codec.ProtobufType + ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1", ""},
	} {
		f.Add(seed.method, seed.url, seed.contentType, seed.accept, []byte(seed.body))
	}
	f.Fuzz(func(t *testing.T, method, url, contentType, accept string, body []byte) {
		req, err := http.NewRequest(method, url, bytes.NewReader(body))
		if err != nil || req.URL.Host != "" {
			t.Skip("not a request")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		req = req.WithContext(ctx)
		req.Host = "localhost"
		req.Header.Set("Content-Type", contentType)
		req.Header.Set("Accept", accept)
		s := seeded(t)
		before := everything(s)
		w := httptest.NewRecorder()
		s.handler().ServeHTTP(w, req)
		unharmed(t, req, w.Code, before, everything(s))
		if w.Code < 200 || w.Code > 599 {
			t.Errorf("%s %s: %d", method, url, w.Code)
		}
		if w.Code == http.StatusInternalServerError && !ownFault.Match(w.Body.Bytes()) && ctx.Err() == nil {
			t.Errorf("%s %s: %s", method, url, w.Body)
		}
	})
}

// A patch of any of the four types never causes a 500 beyond kube-apiserver's, and a refused patch
// changes nothing.
func FuzzPatch(f *testing.F) {
	targets := []string{cmPath + "/seed", "/api/v1/namespaces/default/services/seed", "/apis/apps/v1/namespaces/default/deployments/seed"}
	types := []string{"application/json-patch+json", "application/merge-patch+json", "application/strategic-merge-patch+json", "application/apply-patch+yaml"}
	for i, body := range []string{
		`[{"op":"add","path":"/metadata/finalizers","value":["a.b/c"]},{"op":"test","path":"/metadata/finalizers","value":[null]}]`,
		`{"metadata":{"labels":{"a":null}}}`, `{"spec":{"$setElementOrder/ports":[1]}}`, `{"spec":{"ports":[{"$retainKeys":[[]],"port":1}]}}`,
		`{"spec":{"ports":[{"$patch":"replace"},{"port":1}]}}`, `{"metadata":{"$deleteFromPrimitiveList/finalizers":[null]}}`, `{"$patch":[]}`, "metadata: &a {name: seed, labels: *a}",
	} {
		for target := range targets {
			f.Add(uint8(target), uint8(i), []byte(body))
			f.Add(uint8(target), uint8(2), []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, target, kind uint8, body []byte) {
		req := httptest.NewRequest("PATCH", "http://localhost"+targets[int(target)%len(targets)]+"?fieldManager=f", bytes.NewReader(body))
		req.Header.Set("Content-Type", types[int(kind)%len(types)])
		s := seeded(t)
		before := everything(s)
		w := httptest.NewRecorder()
		s.handler().ServeHTTP(w, req)
		unharmed(t, req, w.Code, before, everything(s))
		if w.Code >= http.StatusInternalServerError && !ownFault.Match(w.Body.Bytes()) {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	})
}

// ownFault matches the messages that kube-apiserver also sends with a 500.
var ownFault = regexp.MustCompile(`resourceVersion should not be set|failed to create typed patch object`)

// seeded returns a server that does not listen, with two objects with the name seed.
func seeded(t *testing.T) *Server {
	s, err := newServer(Options{Anonymous: true})
	if err != nil {
		t.Fatal(err)
	}
	for path, body := range map[string]string{
		cmPath:                                `{"metadata":{"name":"seed"}}`,
		"/api/v1/namespaces/default/services": `{"metadata":{"name":"seed"},"spec":{"ports":[{"port":1}]}}`,
		"/apis/apps/v1/namespaces/default/deployments": `{"metadata":{"name":"seed"},"spec":{"selector":{"matchLabels":{"a":"b"}},
			"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}}}`,
	} {
		w := httptest.NewRecorder()
		req := httptest.NewRequest("POST", "http://localhost"+path, bytes.NewReader([]byte(body)))
		req.Header.Set("Content-Type", "application/json")
		s.handler().ServeHTTP(w, req)
		if w.Code != http.StatusCreated {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	return s
}
