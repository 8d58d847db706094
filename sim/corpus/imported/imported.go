// Package imported turns a user's cluster into a population: simulated pods replace its endpoints,
// and those of its hosts and paths that pods answer with 200 become targets of requests. Its one
// rule: it is pure, and everything that it leaves out is counted and named.
package imported

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/corpus"
	"windtunnel.dev/sim/corpus/dump"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/manifest"
)

// Namespace is the namespace of names without one, as in kubectl.
const Namespace = "default"

// Options are the options of an import.
type Options struct {
	Seed uint64 // of the names of pods
	// Foreign means that the cluster's controller does not read ingress-nginx's annotations, and
	// knows no class except corpus.IngressClass.
	Foreign bool
	// Snippets means that the controllers accept snippets. By default, ingress-nginx rejects an
	// ingress with a snippet, and closes the hosts that the ingress protects.
	Snippets bool
}

// Of returns the population of the manifests of a cluster, and what is left out. The certificates
// and passwords in them are replaced (package dump). It returns an error if a manifest is wrong, or
// if there is no target.
func Of(manifests []manifest.Manifest, o Options) (corpus.Population, *event.Population, error) {
	kept, err := dump.Of(manifests, dump.Options{})
	if err != nil {
		return corpus.Population{}, nil, err
	}
	c := newCluster(kept.Objects, o)
	for why, count := range kept.Summary.LeftOut {
		c.leftOut[why] = &event.LeftOut{Why: why, Count: count}
	}
	p := c.population()
	summary := c.summary(p)
	if len(p.Cluster.Targets) == 0 {
		return p, summary, fmt.Errorf("the cluster has no target: %s", whyNone(summary))
	}
	return p, summary, nil
}

// whyNone returns why a cluster has no target.
func whyNone(s *event.Population) string {
	if s.Ingresses == 0 {
		return "it has no ingress (networking.k8s.io/v1)"
	}
	var reasons []string
	for _, one := range s.LeftOut {
		if len(one.Names) > 0 {
			reasons = append(reasons, one.String())
		}
	}
	return fmt.Sprintf("no path of its %s gets status 200 from a pod: %s", plural.Of(s.Ingresses, "ingress", "ingresses"), cmp.Or(strings.Join(reasons, "; "), "there are no paths"))
}

// key is the namespace and name of an object.
type key = types.NamespacedName

// cluster has the objects of a cluster by kind.
type cluster struct {
	Options
	ingresses []*networkingv1.Ingress // sorted by name
	classes   map[string]string       // the controller of each class
	services  map[key]*corev1.Service
	slices    map[key][]*discoveryv1.EndpointSlice // by service
	secrets   map[key]*corev1.Secret
	others    []runtime.Object // everything that is written as it is

	hosts   map[string]*host
	leftOut map[string]*event.LeftOut // by reason
}

func newCluster(objects []runtime.Object, o Options) *cluster {
	c := &cluster{
		Options: o, classes: map[string]string{}, services: map[key]*corev1.Service{}, slices: map[key][]*discoveryv1.EndpointSlice{},
		secrets: map[key]*corev1.Secret{}, hosts: map[string]*host{}, leftOut: map[string]*event.LeftOut{},
	}
	for _, object := range objects {
		switch one := object.(type) {
		case *corev1.Service:
			c.services[key{Namespace: one.Namespace, Name: one.Name}] = one
			continue
		case *discoveryv1.EndpointSlice:
			of := key{Namespace: one.Namespace, Name: one.Labels[discoveryv1.LabelServiceName]}
			c.slices[of] = append(c.slices[of], one)
			continue
		case *networkingv1.IngressClass:
			c.classes[one.Name] = one.Spec.Controller
		case *networkingv1.Ingress:
			c.ingresses = append(c.ingresses, one)
		case *corev1.Secret:
			c.secrets[key{Namespace: one.Namespace, Name: one.Name}] = one
		}
		c.others = append(c.others, object)
	}
	slices.SortFunc(c.ingresses, func(a, b *networkingv1.Ingress) int { return cmp.Compare(nameOf(a), nameOf(b)) })
	if c.classes[corpus.IngressClass] == "" {
		c.classes[corpus.IngressClass] = corpus.ControllerName
		c.others = append(c.others, &networkingv1.IngressClass{
			TypeMeta:   metav1.TypeMeta{APIVersion: networkingv1.SchemeGroupVersion.String(), Kind: "IngressClass"},
			ObjectMeta: metav1.ObjectMeta{Name: corpus.IngressClass},
			Spec:       networkingv1.IngressClassSpec{Controller: corpus.ControllerName},
		})
	}
	return c
}

// nameOf returns namespace/name.
func nameOf(object metav1.Object) string { return object.GetNamespace() + "/" + object.GetName() }

// population gives the services pods and finds the targets.
func (c *cluster) population() corpus.Population {
	backends := c.backends()
	targets := c.targets(backends)
	p := corpus.Population{Namespace: Namespace, Class: corpus.IngressClass, Cluster: &corpus.Cluster{Objects: c.namespaces()}}
	for _, t := range targets {
		p.Cluster.Targets = append(p.Cluster.Targets, t.Target)
		if of := backends[t.backend].Imported; of.Route == nil {
			of.Route, of.Backend = t.ingress, t.port
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(c.services), compare) {
		switch made := backends[at]; {
		case made == nil:
			p.Cluster.Objects = append(p.Cluster.Objects, c.services[at])
		case made.Imported.Route == nil:
			p.Cluster.Unchanged = append(p.Cluster.Unchanged, *made)
		default:
			p.Services = append(p.Services, *made)
		}
	}
	p.Cluster.Objects = append(p.Cluster.Objects, c.others...)
	return p
}

func compare(a, b key) int { return cmp.Compare(a.String(), b.String()) }

// namespaces returns the namespaces of all objects.
func (c *cluster) namespaces() []runtime.Object {
	names := map[string]bool{Namespace: true}
	for at := range c.services {
		names[at.Namespace] = true
	}
	for _, object := range c.others {
		if one, ok := object.(metav1.Object); ok && one.GetNamespace() != "" {
			names[one.GetNamespace()] = true
		}
	}
	var all []runtime.Object
	for _, name := range slices.Sorted(maps.Keys(names)) {
		all = append(all, &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	return all
}

// leave records that an object or a path is left out, and why.
func (c *cluster) leave(why, name string) {
	one := c.leftOut[why]
	if one == nil {
		one = &event.LeftOut{Why: why}
		c.leftOut[why] = one
	}
	one.Count++
	one.Names = append(one.Names, name)
}

// summary describes the population.
func (c *cluster) summary(p corpus.Population) *event.Population {
	s := &event.Population{Ingresses: len(c.ingresses), Services: len(c.services), Targets: len(p.Cluster.Targets), LeftOut: []event.LeftOut{}}
	for _, service := range p.WithPods() {
		s.Pods += len(service.Pods)
		s.Unready += len(service.Unready())
	}
	for _, why := range slices.Sorted(maps.Keys(c.leftOut)) {
		s.LeftOut = append(s.LeftOut, *c.leftOut[why])
	}
	return s
}
