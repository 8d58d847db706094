package cluster

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

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
		n.spaces[name] = beside(n.run, name)
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

// beside returns the name of a namespace beside a run's home. A name that is too long ends in its hash.
func beside(home, name string) string {
	all := home + "-" + name
	if len(all) <= validation.DNS1123LabelMaxLength {
		return all
	}
	sum := sha256.Sum256([]byte(name))
	hash := "-" + hex.EncodeToString(sum[:4])
	return all[:validation.DNS1123LabelMaxLength-len(hash)] + hash
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
		addLabels(object, secured(n.made))
		return []*unstructured.Unstructured{object}, nil
	case kind == "IngressClass":
		object.SetName(n.class(object.GetName()))
		n.replace(object, n.controller, "spec", "controller")
	case object.GetNamespace() == "":
		return nil, fmt.Errorf("%s %s is in no namespace, and others use the cluster: run it with --driver kind", kind, object.GetName())
	default:
		space, err := n.space(object.GetNamespace())
		if err != nil {
			return nil, err
		}
		object.SetNamespace(space)
		if annotations := object.GetAnnotations(); len(annotations) > 0 {
			object.SetAnnotations(n.values(annotations))
		}
	}
	return []*unstructured.Unstructured{object}, nil
}
