package controllers_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"windtunnel.dev/sim/kubeapi/controllers"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// define creates a CustomResourceDefinition, and returns its resource.
func (r rig) define(client dynamic.Interface, plural, kind string) schema.GroupVersionResource {
	r.Helper()
	crd := &unstructured.Unstructured{}
	text := fmt.Sprintf(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: %[1]s.example.com}, spec: {group: example.com, scope: Namespaced,
 names: {plural: %[1]s, kind: %[2]s}, versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}]}}`, plural, kind)
	if err := yaml.Unmarshal([]byte(text), &crd.Object); err != nil {
		r.Fatal(err)
	}
	must(client.Resource(definitions).Create(r.Context(), crd, metav1.CreateOptions{}))(r)
	return schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: plural}
}

func custom(kind, name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": kind, "metadata": map[string]any{"name": name}}}
}

// Objects of kinds that are added and removed while the controller runs can be owners and
// dependents.
func TestGarbageCollectionOfNewKinds(t *testing.T) {
	r := start(t, controllers.Options{}, "garbage")
	client := must(dynamic.NewForConfig(r.api.Config()))(r)
	for range 2 {
		widgets := r.define(client, "widgets", "Widget")
		owner := must(client.Resource(widgets).Namespace("default").Create(t.Context(), custom("Widget", "owner"), metav1.CreateOptions{}))(r)
		child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "child", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "example.com/v1", Kind: "Widget", Name: "owner", UID: owner.GetUID()}}}}
		must(r.kube.CoreV1().ConfigMaps("default").Create(t.Context(), child, metav1.CreateOptions{}))(r)
		if err := client.Resource(widgets).Namespace("default").Delete(t.Context(), "owner", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		r.leaves()
		if err := client.Resource(definitions).Delete(t.Context(), "widgets.example.com", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
}

// Objects that no version serves any more are deleted with their namespace, too.
func TestNamespaceDeletesObjectsThatAreNotServed(t *testing.T) {
	r := start(t, controllers.Options{}, "namespace")
	client := must(dynamic.NewForConfig(r.api.Config()))(r)
	must(r.kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}, metav1.CreateOptions{}))(r)
	widgets := r.define(client, "widgets", "Widget")
	must(client.Resource(widgets).Namespace("shop").Create(t.Context(), custom("Widget", "a"), metav1.CreateOptions{}))(r)
	must(client.Resource(definitions).Patch(t.Context(), "widgets.example.com", types.JSONPatchType,
		[]byte(`[{"op":"replace","path":"/spec/versions/0/served","value":false}]`), metav1.PatchOptions{}))(r)
	if err := r.kube.CoreV1().Namespaces().Delete(t.Context(), "shop", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	until(r, "the namespace's end", r.watch("namespaces", ""), func(all map[string]*corev1.Namespace) bool { return all["/shop"] == nil && all["shop"] == nil })
	if n := r.api.Holds()["widgets.example.com"]; n != 0 {
		t.Errorf("%d objects remain", n)
	}
}
