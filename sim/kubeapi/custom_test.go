package kubeapi

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/client/clientset/clientset"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"windtunnel.dev/sim/kubeapi/internal/codec"
	"windtunnel.dev/sim/kubeapi/internal/custom"
	"windtunnel.dev/sim/kubeapi/internal/object"
)

const widgetDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, shortNames: [wd], categories: [all]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector}
    additionalPrinterColumns:
    - {name: Host, type: string, jsonPath: .spec.host}
    - {name: Replicas, type: integer, jsonPath: .spec.replicas}
    - {name: Ready, type: boolean, jsonPath: .status.ready}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [host]
            properties:
              host: {type: string, maxLength: 20}
              replicas: {type: integer, minimum: 0, default: 1}
              mode: {type: string, enum: [fast, slow]}
              port: {x-kubernetes-int-or-string: true}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              tags: {type: array, items: {type: string}, x-kubernetes-list-type: set}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
  - name: v1beta1
    served: true
    storage: false
    schema:
      openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

var widgets = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}

// define creates a CustomResourceDefinition.
func define(t testing.TB, s *Server, text string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(text), crd); err != nil {
		t.Fatal(err)
	}
	made, err := definitions(t, s).ApiextensionsV1().CustomResourceDefinitions().Create(context.Background(), crd, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func definitions(t testing.TB, s *Server) *apiextensions.Clientset {
	t.Helper()
	c, err := apiextensions.NewForConfig(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func dynamicClient(t testing.TB, config *rest.Config) *dynamic.DynamicClient {
	t.Helper()
	c, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func widget(name, host string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": name, "labels": map[string]any{"v": host}},
		"spec": map[string]any{"host": host},
	}}
}

// rawWire is a wire that reads answers as text.
type rawWire struct{ wire }

type rawResponse struct {
	*http.Response
	body string
}

func (w rawWire) send(method, path, contentType, body string) rawResponse {
	w.Helper()
	resp := w.wire.send(method, path, contentType, body)
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		w.Fatal(err)
	}
	return rawResponse{resp, string(text)}
}

func nested(t testing.TB, obj *unstructured.Unstructured, path ...string) any {
	t.Helper()
	value, _, err := unstructured.NestedFieldNoCopy(obj.Object, path...)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestDefinitionIsEstablished(t *testing.T) {
	s := start(t)
	crd := define(t, s, widgetDefinition)
	if !custom.IsTrue(crd, apiextensionsv1.Established) || !custom.IsTrue(crd, apiextensionsv1.NamesAccepted) {
		t.Errorf("conditions %+v", crd.Status.Conditions)
	}
	if got := crd.Status; got.AcceptedNames.ListKind != "WidgetList" || len(got.StoredVersions) != 1 || got.StoredVersions[0] != "v1" {
		t.Errorf("status %+v", got)
	}
	rival := strings.ReplaceAll(widgetDefinition, "widgets", "gadgets")
	if second := define(t, s, rival); custom.IsTrue(second, apiextensionsv1.NamesAccepted) || custom.IsTrue(second, apiextensionsv1.Established) {
		t.Errorf("a second definition of kind Widget: %+v", second.Status.Conditions)
	}
	_, err := dynamicClient(t, s.Config()).Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gadgets"}).List(t.Context(), metav1.ListOptions{})
	if !errors.IsNotFound(err) {
		t.Errorf("its resource: %v", err)
	}
}

func TestDefinitionsAreValidated(t *testing.T) {
	s := start(t)
	for name, test := range map[string]struct{ old, new, want string }{
		"name":       {"widgets.example.com", "gadgets.example.com", `metadata.name: Invalid value: "gadgets.example.com": must be spec.names.plural+"."+spec.group`},
		"storage":    {"storage: false", "storage: true", "must have exactly one version marked as storage version"},
		"structural": {"host: {type: string", "host: {maxLength: 3", "spec.versions[0].schema.openAPIV3Schema.properties[spec].properties[host].type: Required value"},
		"scope":      {"Namespaced", "Galactic", `spec.scope: Unsupported value: "Galactic"`},
		"selectable": {"    schema:\n", "    selectableFields: [{jsonPath: .spec.hosts}]\n    schema:\n", `jsonPath: Invalid value: ".spec.hosts": is an invalid path: does not refer to a valid field`},
		"object":     {"    schema:\n", "    selectableFields: [{jsonPath: .spec.free}]\n    schema:\n", "must point to a field of type string, boolean or integer"},
		"column":     {".spec.host}", "'.spec['}", "additionalPrinterColumns[0].jsonPath"},
	} {
		t.Run(name, func(t *testing.T) {
			body := strings.Replace(widgetDefinition, test.old, test.new, 1)
			resp := rawWire{wire{t, s.URL()}}.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", "application/yaml", body)
			if resp.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(resp.body, strings.ReplaceAll(test.want, `"`, `\"`)) {
				t.Errorf("%s: %s", resp.Status, resp.body)
			}
		})
	}
}

func TestCustomObjectLifecycle(t *testing.T) {
	s := start(t)
	define(t, s, widgetDefinition)
	all := dynamicClient(t, s.Config())
	c := all.Resource(widgets).Namespace("default")
	fresh := widget("a", "a.example")
	fresh.Object["status"] = map[string]any{"ready": true}
	made, err := c.Create(t.Context(), fresh, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if nested(t, made, "spec", "replicas") != int64(1) || made.Object["status"] != nil || made.GetGeneration() != 1 || made.GetUID() == "" {
		t.Errorf("created %v", made.Object)
	}
	step := func(what string, generation int64, changed bool, write func(*unstructured.Unstructured) (*unstructured.Unstructured, error)) {
		t.Helper()
		was := made.GetResourceVersion()
		if made, err = write(made.DeepCopy()); err != nil {
			t.Fatal(what, err)
		}
		if made.GetGeneration() != generation || (made.GetResourceVersion() != was) != changed {
			t.Errorf("%s: generation %d, version %s after %s", what, made.GetGeneration(), made.GetResourceVersion(), was)
		}
	}
	update := func(change func(map[string]any)) func(*unstructured.Unstructured) (*unstructured.Unstructured, error) {
		return func(u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
			change(u.Object)
			return c.Update(t.Context(), u, metav1.UpdateOptions{})
		}
	}
	step("nothing", 1, false, update(func(map[string]any) {}))
	step("a label", 1, true, update(func(o map[string]any) { o["metadata"].(map[string]any)["labels"] = map[string]any{"x": "y"} }))
	step("status through the wrong endpoint", 1, false, update(func(o map[string]any) { o["status"] = map[string]any{"ready": true} }))
	step("spec", 2, true, update(func(o map[string]any) { o["spec"].(map[string]any)["port"] = "http" }))
	step("status", 2, true, func(u *unstructured.Unstructured) (*unstructured.Unstructured, error) {
		u.Object["status"] = map[string]any{"ready": true, "replicas": int64(3), "selector": "app=a"}
		u.Object["spec"] = map[string]any{"host": "ignored"}
		u.SetLabels(map[string]string{"ignored": "too"})
		return c.UpdateStatus(t.Context(), u, metav1.UpdateOptions{})
	})
	if nested(t, made, "spec", "host") != "a.example" || nested(t, made, "status", "ready") != true || made.GetLabels()["x"] != "y" {
		t.Errorf("after a write of the status: %v", made.Object)
	}
	step("a merge patch", 3, true, func(*unstructured.Unstructured) (*unstructured.Unstructured, error) {
		return c.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"spec":{"mode":"fast","port":8080}}`), metav1.PatchOptions{})
	})
	step("a JSON patch", 4, true, func(*unstructured.Unstructured) (*unstructured.Unstructured, error) {
		return c.Patch(t.Context(), "a", types.JSONPatchType, []byte(`[{"op":"remove","path":"/spec/mode"}]`), metav1.PatchOptions{})
	})
	if _, err := c.Patch(t.Context(), "a", types.StrategicMergePatchType, []byte(`{}`), metav1.PatchOptions{}); !errors.IsUnsupportedMediaType(err) {
		t.Errorf("a strategic merge patch: %v", err)
	}
	beta := widgets
	beta.Version = "v1beta1"
	old, err := all.Resource(beta).Namespace("default").Get(t.Context(), "a", metav1.GetOptions{})
	if err != nil || old.GetAPIVersion() != "example.com/v1beta1" || nested(t, old, "spec", "port") != int64(8080) {
		t.Errorf("as v1beta1: %v, %v", old, err)
	}
	list, err := c.List(t.Context(), metav1.ListOptions{})
	if err != nil || list.GetKind() != "WidgetList" || len(list.Items) != 1 || list.Items[0].GetKind() != "Widget" {
		t.Errorf("list %v, %v", list, err)
	}
	if s.Holds()["widgets.example.com"] != 1 {
		t.Errorf("holds %v", s.Holds())
	}
	if err := c.Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(t.Context(), "a", metav1.GetOptions{}); !errors.IsNotFound(err) || !strings.Contains(err.Error(), `widgets.example.com "a" not found`) {
		t.Errorf("after its deletion: %v", err)
	}
}

func TestCustomObjectsAreValidated(t *testing.T) {
	s := start(t)
	define(t, s, widgetDefinition)
	path := "/apis/example.com/v1/namespaces/default/widgets"
	client := rawWire{wire{t, s.URL()}}
	for name, test := range map[string]struct {
		query, spec string
		code        int
		want        string
	}{
		"type":      {"", `{"host": 7}`, 422, `spec.host: Invalid value: \"integer\": spec.host in body must be of type string: \"integer\"`},
		"missing":   {"", `{}`, 422, `Widget.example.com \"x\" is invalid: spec.host: Required value`},
		"too long":  {"", `{"host":"0123456789.123456789.1"}`, 422, `spec.host: Too long: may not be more than 20 bytes`},
		"enum":      {"", `{"host":"h","mode":"warp"}`, 422, `spec.mode: Unsupported value: \"warp\": supported values: \"fast\", \"slow\"`},
		"minimum":   {"", `{"host":"h","replicas":-1}`, 422, `spec.replicas in body should be greater than or equal to 0`},
		"either":    {"", `{"host":"h","port":true}`, 422, `spec.port`},
		"duplicate": {"", `{"host":"h","tags":["a","a"]}`, 422, `spec.tags[1]: Duplicate value: \"a\"`},
		"strict":    {"?fieldValidation=Strict", `{"host":"h","colour":"red"}`, 400, `strict decoding error: unknown field \"spec.colour\"`},
		"twice":     {"?fieldValidation=Strict", `{"host":"h","host":"h"}`, 400, `strict decoding error: duplicate field \"spec.host\"`},
		"free":      {"?fieldValidation=Strict&dryRun=All", `{"host":"h","free":{"any":{"thing":1.5}},"port":"http"}`, 201, `"thing":1.5`},
		"ignored":   {"?fieldValidation=Ignore&dryRun=All", `{"host":"h","colour":"red"}`, 201, `"host":"h"`},
	} {
		t.Run(name, func(t *testing.T) {
			resp := client.send("POST", path+test.query, "application/json", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"x"},"spec":`+test.spec+`}`)
			if resp.StatusCode != test.code || !strings.Contains(resp.body, test.want) {
				t.Errorf("%s: %s", resp.Status, resp.body)
			}
			if strings.Contains(resp.body, `"colour"`) || resp.Header.Get("Warning") != "" {
				t.Errorf("an unknown field was stored or caused a warning: %s %q", resp.body, resp.Header.Get("Warning"))
			}
		})
	}
	resp := client.send("POST", path, "application/json", `{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"x","dada":1},"spec":{"host":"h","colour":"red"}}`)
	if got := strings.Join(resp.Header["Warning"], "\n"); resp.StatusCode != 201 || got != "299 - \"unknown field \\\"spec.colour\\\"\"\n299 - \"unknown field \\\"metadata.dada\\\"\"" {
		t.Errorf("%s, warnings %s", resp.Status, got)
	}
	if resp := client.send("PUT", path+"/x", "application/json", `{"kind":"Widget","apiVersion":"example.com/v1","metadata":{"name":"x"},"spec":{"host":"h"}}`); resp.StatusCode != 422 || !strings.Contains(resp.body, "metadata.resourceVersion") {
		t.Errorf("a PUT without a version: %s %s", resp.Status, resp.body)
	}
	if resp := client.send("POST", path, codec.ProtobufType, "k8s\x00"); resp.StatusCode != http.StatusUnsupportedMediaType {
		t.Errorf("a protobuf body: %s", resp.Status)
	}
}

// Informers of both versions, and one of the metadata over protobuf, follow the objects, first with
// WatchList.
func TestCustomInformers(t *testing.T) {
	s := start(t)
	define(t, s, widgetDefinition)
	config := s.Config()
	c := dynamicClient(t, config)
	beta := widgets
	beta.Version = "v1beta1"
	if _, err := c.Resource(widgets).Namespace("default").Create(t.Context(), widget("a", "1"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	meta, err := metadata.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	var streams []<-chan string
	for _, gvr := range []schema.GroupVersionResource{widgets, beta} {
		handler, events := seen()
		full := dynamicinformer.NewDynamicSharedInformerFactory(c, 0)
		full.ForResource(gvr).Informer().AddEventHandler(handler)
		partHandler, partEvents := seen()
		part := metadatainformer.NewSharedInformerFactory(meta, 0)
		part.ForResource(gvr).Informer().AddEventHandler(partHandler)
		full.Start(t.Context().Done())
		part.Start(t.Context().Done())
		streams = append(streams, events, partEvents)
	}
	for _, events := range streams {
		expect(t, events, "add a 1")
	}
	if _, err := c.Resource(beta).Namespace("default").Patch(t.Context(), "a", types.MergePatchType, []byte(`{"metadata":{"labels":{"v":"2"}}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.Resource(widgets).Namespace("default").Delete(t.Context(), "a", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, events := range streams {
		expect(t, events, "update a 2", "delete a 2")
	}
}

func TestDeletedDefinitionDeletesItsObjects(t *testing.T) {
	s := start(t)
	define(t, s, widgetDefinition)
	crds := definitions(t, s).ApiextensionsV1().CustomResourceDefinitions()
	c := dynamicClient(t, s.Config()).Resource(widgets).Namespace("default")
	held := widget("held", "h")
	held.SetFinalizers([]string{"example.com/hold"})
	for _, w := range []*unstructured.Unstructured{held, widget("free", "f")} {
		if _, err := c.Create(t.Context(), w, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	w, err := c.Watch(t.Context(), metav1.ListOptions{ResourceVersion: object.FormatVersion(s.state.Version())})
	if err != nil {
		t.Fatal(err)
	}
	if err := crds.Delete(t.Context(), "widgets.example.com", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	crd, err := crds.Get(t.Context(), "widgets.example.com", metav1.GetOptions{})
	if err != nil || !custom.IsTrue(crd, apiextensionsv1.Terminating) || len(crd.Finalizers) != 1 {
		t.Fatalf("while a finalizer holds an object: %+v, %v", crd, err)
	}
	if _, err := c.Create(t.Context(), widget("late", "l"), metav1.CreateOptions{}); !errors.IsForbidden(err) {
		t.Errorf("creating an object in the meantime: %v", err)
	}
	if _, err := c.Patch(t.Context(), "held", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for e := range w.ResultChan() {
		if e.Type == watch.Error {
			t.Fatalf("the watch ended with %v", e.Object)
		}
		kinds = append(kinds, string(e.Type)+" "+e.Object.(*unstructured.Unstructured).GetName())
	}
	if got := strings.Join(kinds, ", "); got != "DELETED free, MODIFIED held, DELETED held" {
		t.Errorf("the watch saw %s", got)
	}
	if _, err := crds.Get(t.Context(), "widgets.example.com", metav1.GetOptions{}); !errors.IsNotFound(err) {
		t.Errorf("the definition still exists: %v", err)
	}
	if resp := (rawWire{wire{t, s.URL()}}).send("GET", "/apis/example.com/v1/widgets", "", ""); resp.StatusCode != 404 || resp.body != "404 page not found\n" {
		t.Errorf("its resource: %s %q", resp.Status, resp.body)
	}
	define(t, s, widgetDefinition)
	if list, err := c.List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) != 0 {
		t.Errorf("defined again: %v, %v", list, err)
	}
}

func TestDeletedNamespaceDeletesCustomObjects(t *testing.T) {
	s := start(t)
	define(t, s, widgetDefinition)
	core := client(t, s.Config()).CoreV1()
	ns := &unstructured.Unstructured{}
	ns.SetName("team")
	c := dynamicClient(t, s.Config())
	if _, err := c.Resource(widgets).Namespace("team").Create(t.Context(), widget("a", "1"), metav1.CreateOptions{}); !errors.IsNotFound(err) {
		t.Errorf("in a namespace that does not exist: %v", err)
	}
	ns.SetKind("Namespace")
	ns.SetAPIVersion("v1")
	if _, err := c.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Create(t.Context(), ns, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Resource(widgets).Namespace("team").Create(t.Context(), widget("a", "1"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := core.Namespaces().Delete(t.Context(), "team", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := s.Holds()["widgets.example.com"]; n != 0 {
		t.Errorf("%d widgets remain", n)
	}
}

// A definition may change while it is used: a new schema applies from the next request on.
func TestDefinitionChanges(t *testing.T) {
	s := start(t)
	crd := define(t, s, widgetDefinition)
	c := dynamicClient(t, s.Config()).Resource(widgets).Namespace("default")
	if _, err := c.Create(t.Context(), widget("a", "1"), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w, err := c.Watch(t.Context(), metav1.ListOptions{ResourceVersion: object.FormatVersion(s.state.Version())})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	spec := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	spec.Required = append(spec.Required, "mode")
	crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = spec
	crd.Spec.Versions[0].AdditionalPrinterColumns = nil
	if _, err := definitions(t, s).ApiextensionsV1().CustomResourceDefinitions().Update(t.Context(), crd, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Create(t.Context(), widget("b", "1"), metav1.CreateOptions{}); !errors.IsInvalid(err) {
		t.Errorf("without the field that is now required: %v", err)
	}
	if _, err := c.Patch(t.Context(), "a", types.MergePatchType, []byte(`{"spec":{"mode":"slow"}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if e := <-w.ResultChan(); e.Type != watch.Modified {
		t.Errorf("the earlier watch received %+v", e)
	}
}

// Definitions in groups of Kubernetes need an approval.
func TestApprovals(t *testing.T) {
	s := start(t)
	const name = apiextensionsv1.KubeAPIApprovedAnnotation
	for group, test := range map[string]struct{ approval, refused, reason string }{
		"none.example.com":     {"", "", ""},
		"missing.k8s.io":       {"", "Required value", ""},
		"wrong.kubernetes.io":  {"yes", "Invalid value", ""},
		"unapproved.k8s.io":    {"unapproved, a test", "", "UnapprovedAnnotation"},
		"approved.a.k8s.io":    {"https://example.com/1", "", "ApprovedAnnotation"},
		"notkubernetes.io":     {"", "", ""},
		"none.k8s.io.example.": {"", "", ""},
	} {
		group = strings.TrimSuffix(group, ".")
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict([]byte(strings.ReplaceAll(widgetDefinition, "example.com", group)), crd); err != nil {
			t.Fatal(err)
		}
		if test.approval != "" {
			crd.Annotations = map[string]string{name: test.approval}
		}
		made, err := definitions(t, s).ApiextensionsV1().CustomResourceDefinitions().Create(t.Context(), crd, metav1.CreateOptions{})
		if test.refused != "" {
			if !errors.IsInvalid(err) || !strings.Contains(err.Error(), "metadata.annotations["+name+"]: "+test.refused) {
				t.Errorf("%s: %v", group, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", group, err)
			continue
		}
		reason := ""
		for _, c := range made.Status.Conditions {
			if c.Type == apiextensionsv1.KubernetesAPIApprovalPolicyConformant {
				reason = c.Reason
			}
		}
		if reason != test.reason {
			t.Errorf("%s: the condition has the reason %q, want %q", group, reason, test.reason)
		}
	}
}

// A null of a field that may not be null counts as no value.
func TestNullsOfCustomObjects(t *testing.T) {
	s := start(t)
	define(t, s, strings.Replace(widgetDefinition, "mode: {", "note: {type: string, nullable: true}\n              limits: {type: object, additionalProperties: {type: string}}\n              mode: {", 1))
	w := wire{t, s.URL()}
	obj := w.mustCreate("/apis/example.com/v1/namespaces/default/widgets", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},
		"spec":{"host":"h","mode":null,"replicas":null,"note":null,"tags":null,"limits":{"a":null,"b":"1"}}}`)
	spec := nested(t, obj, "spec").(map[string]any)
	if note, there := spec["note"]; !there || note != nil {
		t.Errorf("the null of a nullable field became %v", note)
	}
	delete(spec, "note")
	if want := map[string]any{"host": "h", "replicas": 1.0, "limits": map[string]any{"b": "1"}}; !equality.Semantic.DeepEqual(spec, want) {
		t.Errorf("spec %v, want %v", spec, want)
	}
}
