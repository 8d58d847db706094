// Package derive turns manifests of ingresses into behaviour cases: it derives questions from their
// hosts, paths and annotations, and completes the cases with the answers of a controller. Its one
// rule: it is pure. It sends no request, and the same manifests give the same cases.
package derive

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/manifest"
)

// Options describe the controller of the manifests.
type Options struct {
	Class     string               // of the ingresses to derive from, besides those without a class
	ConfigMap types.NamespacedName // of the controller, if it is among the manifests
	Flags     map[string]string    // of the controller, without dashes
	// Known are the annotations, ConfigMap keys and flags that a case may have. Others are left out.
	Known behave.Known
	// Taken are the names that cases and their namespaces must not have. Of adds their names. It may be nil.
	Taken map[string]bool
}

// Derived is the result of Of.
type Derived struct {
	Cases []*Case
	// Omissions are the parts of the manifests that the cases do not test, or only in another form.
	// They are sorted and have no duplicates.
	Omissions []Omission
}

// Omission is a part of the manifests that the cases do not test.
type Omission struct {
	What string `json:"what"` // annotation/enable-access-log, config/use-geoip2, Deployment, Secret shop/tls
	Why  string `json:"why"`
	// Objects are the objects that have it, as namespace/name, without duplicates. Ignored kinds
	// have none.
	Objects []string `json:"objects,omitempty"`
}

// Case is a case whose steps have no expectations yet, and what to record of each answer.
type Case struct {
	behave.Case
	Ingresses []Ingress // that the case is about
	looks     []look    // one for each step
}

// Ingress is an ingress that a case is about.
type Ingress struct {
	Object string // namespace/name
	// Annotations are its annotations for the controller, without their prefix, sorted, whether the
	// bundled controller knows them or not.
	Annotations []string
	Hosts       []string // of its rules; empty: all others
	Services    []string // that it routes to, as namespace/name
}

// Of derives cases from manifests: one for each group of ingresses that have hosts in common.
func Of(manifests []manifest.Manifest, o Options) Derived {
	notes := &notes{}
	all := read(manifests, o, notes)
	var derived Derived
	taken := o.Taken
	if taken == nil {
		taken = map[string]bool{}
	}
	for n, members := range all.components() {
		made := newBuilder(all, o, notes, taken, members).build(n == 0)
		if !slices.ContainsFunc(made.Steps, func(s behave.Step) bool { return s.Request.Request != "" }) {
			notes.add("Ingress", "not tested: it has no host and path that a client can request", members[0].object())
			continue
		}
		for _, i := range members {
			made.Ingresses = append(made.Ingresses, i.described())
		}
		derived.Cases = append(derived.Cases, made)
	}
	derived.Omissions = notes.sorted()
	return derived
}

// notes collects omissions: the objects of each, by what and why.
type notes struct{ found map[[2]string][]string }

func (n *notes) add(what, why, object string) {
	if n.found == nil {
		n.found = map[[2]string][]string{}
	}
	key := [2]string{what, why}
	objects := n.found[key]
	if object != "" && !slices.Contains(objects, object) {
		objects = append(objects, object)
	}
	n.found[key] = objects
}

func (n *notes) sorted() []Omission {
	var all []Omission
	for key, objects := range n.found {
		slices.Sort(objects)
		all = append(all, Omission{What: key[0], Why: key[1], Objects: objects})
	}
	slices.SortFunc(all, func(a, b Omission) int { return cmp.Or(cmp.Compare(a.What, b.What), cmp.Compare(a.Why, b.Why)) })
	return all
}
