package kubeapi

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Custom objects have field owners like all others: of applied fields, and of the replicas.
func TestApplyCustom(t *testing.T) {
	s := start(t)
	w := wire{t, s.URL()}
	resp := w.send("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?fieldManager=user", "application/yaml", `
metadata: {name: wheels.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: wheels, singular: wheel, kind: Wheel, listKind: WheelList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    schema: {openAPIV3Schema: {type: object, properties: {
      spec: {type: object, properties: {size: {type: integer}, replicas: {type: integer}, tags: {type: array, items: {type: string}, x-kubernetes-list-type: set}, kind: {type: string, default: round}}},
      status: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}
`)
	if code, crd := w.answer(resp); code != http.StatusCreated || len(crd.GetManagedFields()) != 1 {
		t.Fatalf("got %d %v", code, crd.Object)
	}
	const wheels = "/apis/example.com/v1/namespaces/default/wheels"
	apply := func(manager, spec string) (int, *unstructured.Unstructured) {
		return w.answer(w.send("PATCH", wheels+"/a?fieldManager="+manager, applyYAML, "{apiVersion: example.com/v1, kind: Wheel, metadata: {name: a}, spec: "+spec+"}"))
	}
	code, made := apply("me", "{size: 1, replicas: 2}")
	if code != http.StatusCreated || text(made, "spec", "kind") != "round" {
		t.Fatalf("got %d %v", code, made.Object)
	}
	if code, again := apply("me", "{size: 1, replicas: 2}"); code != http.StatusOK || again.GetResourceVersion() != made.GetResourceVersion() {
		t.Errorf("the same apply again: %d, version %s after %s", code, again.GetResourceVersion(), made.GetResourceVersion())
	}
	code, status := apply("you", "{size: 2}")
	if code != http.StatusConflict || !strings.Contains(text(status, "message"), `conflict with "me": .spec.size`) {
		t.Errorf("got %d %q", code, text(status, "message"))
	}
	code, scale := w.answer(w.send("PATCH", wheels+"/a/scale?fieldManager=hpa", "application/merge-patch+json", `{"spec":{"replicas":5}}`))
	if code != http.StatusOK || scale.GetKind() != "Scale" {
		t.Fatalf("got %d %v", code, scale.Object)
	}
	if code, status = apply("me", "{size: 1, replicas: 2}"); code != http.StatusConflict || !strings.Contains(text(status, "message"), ".spec.replicas") {
		t.Errorf("replicas that another manager has scaled: %d %q", code, text(status, "message"))
	}
	apply("me", "{size: 1, tags: [a]}")
	if code, both := apply("you", "{tags: [b]}"); code != http.StatusOK || fmt.Sprint(nested(t, both, "spec", "tags")) != "[a b]" {
		t.Errorf("a set whose items have different owners: %d %v", code, both.Object)
	}
	apply("you", "{}")
	code, left := apply("me", "{}")
	if spec, _, _ := unstructured.NestedMap(left.Object, "spec"); code != http.StatusOK || len(spec) != 2 {
		t.Errorf("after an empty apply: %d %v", code, left.Object)
	}
}
