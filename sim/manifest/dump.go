package manifest

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// lastApplied is the annotation in which kubectl apply stores the applied manifest.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// RemoveServerFields removes the metadata that an API server set. Another server rejects some of
// these fields and sets its own (API conventions of Kubernetes, metadata).
func RemoveServerFields(object *unstructured.Unstructured) {
	for _, field := range []string{
		"resourceVersion", "uid", "selfLink", "generation", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "managedFields",
	} {
		unstructured.RemoveNestedField(object.Object, "metadata", field)
	}
}

// Undump turns an object printed by kubectl get -o yaml into a manifest that can be applied: it
// removes what the server, its controllers and kubectl added. An object without uid and
// resourceVersion does not come from a server: it keeps its status, and a Service its addresses and
// ports.
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

// undumpService removes allocated addresses and ports, which belong to one cluster.
func undumpService(service *unstructured.Unstructured) {
	if ip, _, _ := unstructured.NestedString(service.Object, "spec", "clusterIP"); ip != "None" {
		unstructured.RemoveNestedField(service.Object, "spec", "clusterIP")
		unstructured.RemoveNestedField(service.Object, "spec", "clusterIPs")
	}
	unstructured.RemoveNestedField(service.Object, "spec", "healthCheckNodePort")
	ports, found, err := unstructured.NestedSlice(service.Object, "spec", "ports")
	if !found || err != nil {
		return // the server reports invalid ports
	}
	for _, port := range ports {
		if port, ok := port.(map[string]any); ok {
			delete(port, "nodePort")
		}
	}
	_ = unstructured.SetNestedSlice(service.Object, ports, "spec", "ports") // cannot fail, because the field exists
}
