package kubeapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/adapter"
	crds "windtunnel.dev/sim/definitions"
	"windtunnel.dev/sim/manifest"
)

// gatewayAPIs are versions of the module whose CRDs, and examples of valid and of invalid objects, the
// tests use: that of the adapter traefik-gateway, and a later one.
var gatewayAPIs = []string{"sigs.k8s.io/gateway-api@v1.4.0", "sigs.k8s.io/gateway-api@v1.7.0"}

// withGatewayAPI returns a server that serves the Gateway API's standard channel, and the folder of the
// module.
func withGatewayAPI(t *testing.T, gatewayAPI string) (w wire, module string) {
	t.Helper()
	if testing.Short() {
		t.Skip("downloads a Go module; not run with -short")
	}
	all, err := crds.Read(t.Context(), []adapter.CRDs{{Module: gatewayAPI, Path: "config/crd/standard"}})
	if err != nil {
		t.Skip(err)
	}
	if module, err = crds.Folder(t.Context(), gatewayAPI); err != nil {
		t.Skip(err)
	}
	w = wire{t, start(t).URL()}
	for _, crd := range all {
		if code, status := w.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", crd); code != http.StatusCreated {
			t.Fatalf("%s: %d %v", crd.GetName(), code, status.Object["message"])
		}
	}
	return w, module
}

func (w wire) post(path string, object *unstructured.Unstructured) (int, *unstructured.Unstructured) {
	body, err := json.Marshal(object)
	if err != nil {
		w.Fatal(err)
	}
	return w.do("POST", path, string(body))
}

// gatewayPath returns the path of the collection for an object of the Gateway API.
func gatewayPath(object *unstructured.Unstructured) string {
	plural := strings.ToLower(object.GetKind()) + "s"
	switch object.GetKind() {
	case "GatewayClass":
		return "/apis/" + object.GetAPIVersion() + "/gatewayclasses"
	case "BackendTLSPolicy":
		plural = "backendtlspolicies"
	}
	return "/apis/" + object.GetAPIVersion() + "/namespaces/default/" + plural
}

// The module's examples are accepted, and its invalid examples are refused as invalid.
func TestGatewayAPIExamples(t *testing.T) {
	for _, version := range gatewayAPIs {
		t.Run(path.Base(version), func(t *testing.T) { checkExamples(t, version) })
	}
}

func checkExamples(t *testing.T, version string) {
	w, module := withGatewayAPI(t, version)
	for folder, want := range map[string]int{"examples/standard": http.StatusCreated, "hack/invalid-examples/standard": http.StatusUnprocessableEntity} {
		manifests, err := manifest.Load(filepath.Join(module, filepath.FromSlash(folder)))
		if err != nil {
			t.Fatal(err)
		}
		tried := 0
		for _, m := range manifests {
			if m.Object.GroupVersionKind().Group != "gateway.networking.k8s.io" {
				continue
			}
			tried++
			m.Object.SetNamespace("")
			m.Object.SetName("")
			m.Object.SetGenerateName("example-") // several have the same name
			code, status := w.post(gatewayPath(m.Object), m.Object)
			if file, _ := filepath.Rel(module, m.File); code != want {
				t.Errorf("%s:%d: %d %v, want %d", file, m.Line, code, status.Object["message"], want)
			}
		}
		if tried < 20 {
			t.Errorf("%s has only %d objects", folder, tried)
		}
	}
}

const route = `{"apiVersion":"gateway.networking.k8s.io/v1","kind":"HTTPRoute","metadata":{"name":"shop"},"spec":{"hostnames":["shop.example"],
"parentRefs":[{"name":"web"}],"rules":[{"backendRefs":[{"name":"shop","port":80}]}]}}`

// The CRDs' defaults, columns and status subresource.
func TestGatewayAPIObjects(t *testing.T) {
	w, _ := withGatewayAPI(t, gatewayAPIs[0])
	const routes = "/apis/gateway.networking.k8s.io/v1/namespaces/default/httproutes"
	code, made := w.do("POST", routes, route)
	if code != http.StatusCreated {
		t.Fatal(code, made)
	}
	for name, want := range map[string]string{
		"parentRefs": `[{"group":"gateway.networking.k8s.io","kind":"Gateway","name":"web"}]`,
		"rules":      `[{"backendRefs":[{"group":"","kind":"Service","name":"shop","port":80,"weight":1}],"matches":[{"path":{"type":"PathPrefix","value":"/"}}]}]`,
	} {
		value, _, _ := unstructured.NestedFieldNoCopy(made.Object, "spec", name)
		if got, _ := json.Marshal(value); string(got) != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}

	// A write to the status changes nothing else, and the schema of the status holds.
	const parents = `{"status":{"parents":[{"controllerName":"example.com/c","parentRef":{"name":"web"},"conditions":[` +
		`{"type":"Accepted","status":"True","reason":"Accepted","message":"","lastTransitionTime":"2024-01-01T00:00:00Z"}]}]},"spec":{"hostnames":["other.example"]}}`
	const merge = "application/merge-patch+json"
	code, made = w.answer(w.send("PATCH", routes+"/shop/status", merge, parents))
	hostnames, _, _ := unstructured.NestedStringSlice(made.Object, "spec", "hostnames")
	list, _, _ := unstructured.NestedSlice(made.Object, "status", "parents")
	if code != http.StatusOK || len(hostnames) != 1 || hostnames[0] != "shop.example" || len(list) != 1 || fmt.Sprint(made.Object["metadata"].(map[string]any)["generation"]) != "1" {
		t.Errorf("the status: %d %v", code, made.Object)
	}
	code, made = w.answer(w.send("PATCH", routes+"/shop/status", merge, strings.Replace(parents, `"example.com/c"`, `"c"`, 1)))
	if code != http.StatusUnprocessableEntity {
		t.Errorf("a controller without a domain: %d %v", code, made.Object)
	}

	request, err := http.NewRequestWithContext(t.Context(), "GET", w.base+routes, nil)
	check(t, err)
	request.Header.Set("Accept", "application/json;as=Table;g=meta.k8s.io;v=v1")
	response, err := http.DefaultClient.Do(request)
	check(t, err)
	defer response.Body.Close()
	var table metav1.Table
	check(t, json.NewDecoder(response.Body).Decode(&table))
	var names []string
	for _, column := range table.ColumnDefinitions {
		names = append(names, column.Name)
	}
	if got := strings.Join(names, " "); got != "Name Hostnames Age" || len(table.Rows) != 1 || table.Rows[0].Cells[1] != `["shop.example"]` {
		t.Errorf("columns %s, rows %v", got, table.Rows)
	}
}

// A new object has the default status of its schema, which no manager owns. A status that the client
// sends is dropped.
func TestGatewayAPIDefaultStatus(t *testing.T) {
	w, _ := withGatewayAPI(t, gatewayAPIs[0])
	code, made := w.do("POST", "/apis/gateway.networking.k8s.io/v1/gatewayclasses", `{"apiVersion":"gateway.networking.k8s.io/v1","kind":"GatewayClass","metadata":{"name":"c"},
"spec":{"controllerName":"example.com/c"},"status":{"conditions":[]}}`)
	conditions, _, _ := unstructured.NestedSlice(made.Object, "status", "conditions")
	if code != http.StatusCreated || len(conditions) != 1 {
		t.Fatal(code, made.Object)
	}
	if condition := conditions[0].(map[string]any); condition["type"] != "Accepted" || condition["status"] != "Unknown" || condition["reason"] != "Pending" {
		t.Errorf("%v", condition)
	}
	if managers, _ := json.Marshal(made.Object["metadata"].(map[string]any)["managedFields"]); strings.Contains(string(managers), "f:status") {
		t.Errorf("a manager owns the status: %s", managers)
	}
}

// A rule that compares the old and the new object: the controller of a class never changes.
func TestGatewayAPITransitions(t *testing.T) {
	w, _ := withGatewayAPI(t, gatewayAPIs[0])
	const classes, merge = "/apis/gateway.networking.k8s.io/v1/gatewayclasses", "application/merge-patch+json"
	if code, made := w.do("POST", classes, `{"apiVersion":"gateway.networking.k8s.io/v1","kind":"GatewayClass","metadata":{"name":"c"},"spec":{"controllerName":"example.com/c"}}`); code != http.StatusCreated {
		t.Fatal(code, made)
	}
	code, status := w.answer(w.send("PATCH", classes+"/c", merge, `{"spec":{"controllerName":"example.com/d"}}`))
	if code != http.StatusUnprocessableEntity || !strings.Contains(strings.Join(causes(status), " "), "spec.controllerName FieldValueInvalid") {
		t.Errorf("%d %v", code, causes(status))
	}
	if code, status := w.answer(w.send("PATCH", classes+"/c", merge, `{"spec":{"description":"a class"}}`)); code != http.StatusOK {
		t.Errorf("%d %v", code, causes(status))
	}
}
