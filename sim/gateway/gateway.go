// Package gateway translates ingresses to objects of the Gateway API, so that the populations and steps
// of scenarios, which are made of ingresses, reach controllers that serve only HTTPRoutes. Its one rule:
// it is pure, and what HTTPRoutes cannot express is an error, never a route that means something else.
package gateway

import (
	"fmt"
	"maps"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// apiVersion is the version of all objects of the Gateway API that this package writes. It is in the
// standard channel since version 1.0 of the Gateway API.
const apiVersion = "gateway.networking.k8s.io/v1"

// Gateways say which Gateways the translated routes belong to.
type Gateways struct {
	// Controller is the spec.controllerName of the GatewayClasses.
	Controller string
	// Namespace has the Gateway of each class.
	Namespace string
	// HTTP and HTTPS are the ports of the listeners.
	HTTP, HTTPS int64
}

// Translate returns the objects that stand for an object:
//
//   - For an IngressClass, a GatewayClass and a Gateway, both with its name. The Gateway has a listener
//     for HTTP, which accepts routes of all namespaces.
//   - For an Ingress, an HTTPRoute per rule. If it has certificates, also a Gateway with its name, with a
//     listener for each host of a certificate, because a listener is where the Gateway API has
//     certificates.
//   - For any other object, the object itself.
//
// The error says what part of the object the Gateway API's standard channel cannot express.
func (g Gateways) Translate(object *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	if object.GroupVersionKind().Group != networkingv1.GroupName {
		return []*unstructured.Unstructured{object}, nil
	}
	switch object.GetKind() {
	case "IngressClass":
		return g.class(object)
	case "Ingress":
		var ingress networkingv1.Ingress
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &ingress); err != nil {
			return nil, err
		}
		objects, err := g.routes(&ingress)
		if err != nil {
			return nil, fmt.Errorf("ingress %s/%s as HTTPRoutes: %w", ingress.Namespace, ingress.Name, err)
		}
		return objects, nil
	}
	return []*unstructured.Unstructured{object}, nil
}

// class returns the GatewayClass and the Gateway of an IngressClass, whose controller does not matter.
func (g Gateways) class(of *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	if _, has, _ := unstructured.NestedMap(of.Object, "spec", "parameters"); has {
		return nil, fmt.Errorf("ingress class %s as a GatewayClass: its parameters are of another controller", of.GetName())
	}
	namespace := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": g.Namespace},
	}}
	class := newObject("GatewayClass", "", of.GetName(), map[string]any{"controllerName": g.Controller})
	shared := newObject("Gateway", g.Namespace, of.GetName(), map[string]any{
		"gatewayClassName": of.GetName(),
		"listeners": []any{map[string]any{
			"name": "http", "protocol": "HTTP", "port": g.HTTP,
			"allowedRoutes": map[string]any{"namespaces": map[string]any{"from": "All"}},
		}},
	})
	return []*unstructured.Unstructured{namespace, class, shared}, nil
}

func newObject(kind, namespace, name string, spec map[string]any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	return object
}

// like gives an object the labels and annotations of an ingress.
func like(ingress *networkingv1.Ingress, object *unstructured.Unstructured) *unstructured.Unstructured {
	if len(ingress.Labels) > 0 {
		object.SetLabels(maps.Clone(ingress.Labels))
	}
	annotations := maps.Clone(ingress.Annotations)
	maps.DeleteFunc(annotations, func(name, _ string) bool { return ofController(name) })
	if len(annotations) > 0 {
		object.SetAnnotations(annotations)
	}
	return object
}
