package cluster

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// names translates the names of a scenario to those of the run: all objects are in the run's
// namespace, and the run has its own classes.
type names struct {
	run  string            // the namespace of the run, and the beginning of the names of its classes
	of   string            // the namespace of the scenario; empty: no object had one yet
	made map[string]string // labels
}

// translate returns the objects that are written in place of an object. The namespace itself exists
// already.
func (n *names) translate(object *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	if object.GetKind() == "Namespace" {
		return nil, n.see(object.GetName())
	}
	object = object.DeepCopy()
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	for name, value := range n.made {
		labels[name] = value
	}
	object.SetLabels(labels)
	if object.GetKind() == "IngressClass" {
		object.SetName(n.class(object.GetName()))
		controller, _, _ := unstructured.NestedString(object.Object, "spec", "controller")
		return []*unstructured.Unstructured{object}, unstructured.SetNestedField(object.Object, n.controller(controller), "spec", "controller")
	}
	if object.GetNamespace() == "" {
		return nil, fmt.Errorf("%s %s is in no namespace, and others use the cluster: run it with --driver kind", object.GetKind(), object.GetName())
	}
	if err := n.see(object.GetNamespace()); err != nil {
		return nil, err
	}
	object.SetNamespace(n.run)
	if annotations := object.GetAnnotations(); len(annotations) > 0 {
		for name, value := range annotations {
			annotations[name] = n.reference(value)
		}
		object.SetAnnotations(annotations)
	}
	class, found, _ := unstructured.NestedString(object.Object, "spec", "ingressClassName")
	if object.GetKind() == "Ingress" && found {
		return []*unstructured.Unstructured{object}, unstructured.SetNestedField(object.Object, n.class(class), "spec", "ingressClassName")
	}
	return []*unstructured.Unstructured{object}, nil
}

// see records the namespace of the scenario. It returns an error for a second one.
func (n *names) see(namespace string) error {
	if n.of == "" {
		n.of = namespace
	}
	if n.of != namespace {
		return fmt.Errorf("the scenario has objects in the namespaces %s and %s, and in a cluster that others use, a run has one: run it with --driver kind", n.of, namespace)
	}
	return nil
}

// reference translates a text that names an object of the scenario's namespace: demo/web:80.
func (n *names) reference(text string) string {
	if rest, ours := strings.CutPrefix(text, n.of+"/"); ours && n.of != "" {
		return n.run + "/" + rest
	}
	return text
}

// references translates texts.
func (n *names) references(texts []string) []string {
	all := slices.Clone(texts)
	for i, text := range all {
		all[i] = n.reference(text)
	}
	return all
}

// class returns the name of an IngressClass.
func (n *names) class(name string) string { return n.run + "-" + name }

// controller returns the name of a controller in an IngressClass.
func (n *names) controller(name string) string {
	_, last, _ := strings.Cut(name, "/")
	return "windtunnel.dev/" + n.run + "-" + last
}
