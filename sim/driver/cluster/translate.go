package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/driver/incluster"
)

// names translates the names of a scenario to those of the run, which has its own namespaces and classes.
type names struct {
	run    string            // the home of the run, and the beginning of the names of its classes
	spaces map[string]string // the namespaces of the run, by those of the scenario
	made   map[string]string // labels
}

// newNames returns the names of a run whose scenario has objects in these namespaces. A single one is the
// run's home; each of several is a namespace of its own, so that the scenario may label and delete it. The
// home always stands for the namespace in which scenarios find the controller.
func newNames(h home, namespaces []string) names {
	n := names{run: h.name(), spaces: map[string]string{}, made: h.labels()}
	for _, name := range namespaces {
		n.spaces[name] = h.beside(name)
	}
	delete(n.spaces, incluster.Namespace)
	if len(n.spaces) == 1 {
		for name := range n.spaces {
			n.spaces[name] = n.run
		}
	}
	n.spaces[incluster.Namespace] = n.run
	return n
}

// further returns the namespaces of the run besides its home, sorted.
func (n *names) further() []string {
	var all []string
	for _, space := range n.spaces {
		if space != n.run {
			all = append(all, space)
		}
	}
	slices.Sort(all)
	return all
}

// translate returns the objects that are written in place of an object. The home exists already, and stays.
func (n *names) translate(object *unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	object = object.DeepCopy()
	switch kind := object.GetKind(); {
	case kind == "Namespace":
		space, err := n.space(object.GetName())
		if err != nil || space == n.run {
			return nil, err
		}
		object.SetName(space)
		addLabels(object, restricted)
	case kind == "IngressClass":
		object.SetName(n.class(object.GetName()))
		change(object, n.controller, "spec", "controller")
	case object.GetNamespace() == "":
		return nil, fmt.Errorf("%s %s is in no namespace, and others use the cluster: run it with --driver kind", kind, object.GetName())
	default:
		space, err := n.space(object.GetNamespace())
		if err != nil {
			return nil, err
		}
		object.SetNamespace(space)
		n.refer(object)
	}
	addLabels(object, n.made)
	return []*unstructured.Unstructured{object}, nil
}

// refer translates what an object refers to.
func (n *names) refer(object *unstructured.Unstructured) {
	if annotations := object.GetAnnotations(); len(annotations) > 0 {
		object.SetAnnotations(n.values(annotations))
	}
	switch object.GetKind() {
	case "Ingress":
		change(object, n.class, "spec", "ingressClassName")
		change(object, n.class, "metadata", "annotations", "kubernetes.io/ingress.class")
	case "ConfigMap":
		data, _, _ := unstructured.NestedStringMap(object.Object, "data")
		for key := range data {
			change(object, n.reference, "data", key)
		}
	}
}

// change translates a text in a field, if the object has it.
func change(object *unstructured.Unstructured, translate func(string) string, field ...string) {
	if text, found, _ := unstructured.NestedString(object.Object, field...); found {
		_ = unstructured.SetNestedField(object.Object, translate(text), field...) // a field that exists can be set
	}
}

// addLabels adds labels to an object.
func addLabels(object *unstructured.Unstructured, labels map[string]string) {
	all := object.GetLabels()
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, labels)
	object.SetLabels(all)
}

// space returns the namespace of the run for one of the scenario.
func (n *names) space(name string) (string, error) {
	if space, known := n.spaces[name]; known {
		return space, nil
	}
	return "", fmt.Errorf("the namespace %s is not among those that the run has created (for %s): others use the cluster, so run it with --driver kind",
		name, strings.Join(slices.Sorted(maps.Keys(n.spaces)), ", "))
}

// reference translates a text that begins with a namespace of the scenario, such as demo/web:80.
func (n *names) reference(text string) string {
	name, rest, found := strings.Cut(text, "/")
	if space, known := n.spaces[name]; found && known {
		return space + "/" + rest
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

// values translates texts by key: those of annotations, flags and ConfigMaps.
func (n *names) values(texts map[string]string) map[string]string {
	all := maps.Clone(texts)
	for key, text := range all {
		all[key] = n.reference(text)
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
