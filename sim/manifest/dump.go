package manifest

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// lastApplied is where kubectl apply keeps what it was given.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// RemoveServerFields takes off an object what an API server chose of its metadata:
// another server refuses some of it, and chooses its own (API conventions of
// Kubernetes, metadata).
func RemoveServerFields(object *unstructured.Unstructured) {
	for _, field := range []string{
		"resourceVersion", "uid", "selfLink", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields",
	} {
		unstructured.RemoveNestedField(object.Object, "metadata", field)
	}
}

// Undump makes of an object that kubectl get -o yaml printed what could have been
// applied: without what the server, its controllers and kubectl added. An object
// that no server had, having no uid, keeps its status, and the addresses and ports
// of a Service.
func Undump(object *unstructured.Unstructured) {
	dumped := object.GetUID() != "" || object.GetResourceVersion() != ""
	RemoveServerFields(object)
	if annotations := object.GetAnnotations(); annotations[lastApplied] != "" {
		delete(annotations, lastApplied)
		object.SetAnnotations(annotations)
	}
	if !dumped {
		return
	}
	delete(object.Object, "status")
	if object.GetKind() == "Service" && object.GetAPIVersion() == "v1" {
		undumpService(object)
	}
}

// undumpService takes off what is allocated: it belongs to one cluster.
func undumpService(service *unstructured.Unstructured) {
	if ip, _, _ := unstructured.NestedString(service.Object, "spec", "clusterIP"); ip != "None" {
		unstructured.RemoveNestedField(service.Object, "spec", "clusterIP")
		unstructured.RemoveNestedField(service.Object, "spec", "clusterIPs")
	}
	unstructured.RemoveNestedField(service.Object, "spec", "healthCheckNodePort")
	ports, found, err := unstructured.NestedSlice(service.Object, "spec", "ports")
	if !found || err != nil {
		return // a server says what is wrong with it
	}
	for _, port := range ports {
		if port, ok := port.(map[string]any); ok {
			delete(port, "nodePort")
		}
	}
	_ = unstructured.SetNestedSlice(service.Object, ports, "spec", "ports") // it was there
}
