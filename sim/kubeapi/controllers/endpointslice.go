package controllers

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/rand"
	listers "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
)

const (
	slicesManager = "endpointslice-controller.k8s.io"
	perSlice      = 100 // endpoints
)

// endpointSlice maintains the EndpointSlices of Services with a selector. It ignores slices that
// have another manager.
type endpointSlice struct {
	*cluster
	services listers.ServiceLister
	pods     listers.PodLister
	nodes    listers.NodeLister
	slices   discoverylisters.EndpointSliceLister
}

func newEndpointSlice(c *cluster) (*loop, error) {
	core := c.informers.Core().V1()
	e := &endpointSlice{cluster: c, services: core.Services().Lister(), pods: core.Pods().Lister(), nodes: core.Nodes().Lister(),
		slices: c.informers.Discovery().V1().EndpointSlices().Lister()}
	l := newLoop(e.sync)
	l.watch(core.Services().Informer(), ownKey)
	c.watchPods(l, e.servicesOf)
	l.watch(c.informers.Discovery().V1().EndpointSlices().Informer(), serviceKey)
	core.Nodes().Informer() // for the zones of nodes, which do not change
	return l, nil
}

// serviceKey returns the key of the service of a slice that the controller maintains.
func serviceKey(slice metav1.Object) []string {
	if slice.GetLabels()[discoveryv1.LabelManagedBy] != slicesManager {
		return nil
	}
	return []string{keyOf(slice.GetNamespace(), slice.GetLabels()[discoveryv1.LabelServiceName])}
}

// servicesOf returns the keys of the services that select a pod.
func (e *endpointSlice) servicesOf(pod metav1.Object) []string {
	services, _ := e.services.Services(pod.GetNamespace()).List(labels.Everything()) // never fails: it is a cache
	var keys []string
	for _, svc := range services {
		if selects(svc, pod) {
			keys = append(keys, keyOf(svc.Namespace, svc.Name))
		}
	}
	return keys
}

func selects(svc *corev1.Service, pod metav1.Object) bool {
	return len(svc.Spec.Selector) > 0 && labels.SelectorFromValidatedSet(svc.Spec.Selector).Matches(labels.Set(pod.GetLabels()))
}

func (e *endpointSlice) sync(ctx context.Context, key string) error {
	namespace, name := splitKey(key)
	have, err := e.slices.EndpointSlices(namespace).List(labels.SelectorFromValidatedSet(labels.Set{
		discoveryv1.LabelServiceName: name, discoveryv1.LabelManagedBy: slicesManager}))
	if err != nil {
		return err
	}
	svc, err := e.services.Services(namespace).Get(name)
	switch {
	case apierrors.IsNotFound(err):
		return e.deleteAll(ctx, have)
	case err != nil || svc.DeletionTimestamp != nil || len(svc.Spec.Selector) == 0 || svc.Spec.Type == corev1.ServiceTypeExternalName:
		return err
	}
	sets, err := e.endpointsOf(svc)
	if err != nil {
		return err
	}
	return e.write(ctx, svc, have, sets)
}

func (e *endpointSlice) deleteAll(ctx context.Context, have []*discoveryv1.EndpointSlice) error {
	for _, slice := range have {
		err := e.client.DiscoveryV1().EndpointSlices(slice.Namespace).Delete(ctx, slice.Name, metav1.DeleteOptions{
			Preconditions: &metav1.Preconditions{UID: &slice.UID}})
		if ignoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// write updates the slices to contain the endpoints. An endpoint stays in its slice, and new ones go
// into slices with free space. Slices for new ports reuse the slices whose ports
// are no longer served. Other slices without endpoints are deleted, except for the last one.
func (e *endpointSlice) write(ctx context.Context, svc *corev1.Service, have []*discoveryv1.EndpointSlice, sets []endpointSet) error {
	slices.SortFunc(have, func(a, b *discoveryv1.EndpointSlice) int { return cmp.Compare(a.Name, b.Name) })
	taken := map[string]bool{}
	for _, slice := range have {
		taken[slice.Name] = true
	}
	spare := slices.DeleteFunc(slices.Clone(have), func(old *discoveryv1.EndpointSlice) bool {
		return slices.ContainsFunc(sets, func(s endpointSet) bool { return s.fits(old) })
	})
	add := func(family discoveryv1.AddressType) *discoveryv1.EndpointSlice {
		slice := &discoveryv1.EndpointSlice{AddressType: family}
		i := slices.IndexFunc(spare, func(old *discoveryv1.EndpointSlice) bool { return old.AddressType == family })
		if i < 0 {
			slice.Namespace, slice.Name = svc.Namespace, freeName(svc, taken)
			return slice
		}
		spare[i].ObjectMeta.DeepCopyInto(&slice.ObjectMeta)
		spare = slices.Delete(spare, i, i+1)
		return slice
	}
	for i := range sets {
		if err := e.writeSet(ctx, svc, &sets[i], have, add); err != nil {
			return err
		}
	}
	var stale []*discoveryv1.EndpointSlice
	for _, slice := range have {
		if !slices.ContainsFunc(sets, func(s endpointSet) bool { return s.uses[slice.Name] }) {
			stale = append(stale, slice)
		}
	}
	return e.deleteAll(ctx, stale)
}

func (e *endpointSlice) writeSet(ctx context.Context, svc *corev1.Service, set *endpointSet, have []*discoveryv1.EndpointSlice, add func(discoveryv1.AddressType) *discoveryv1.EndpointSlice) error {
	set.uses = map[string]bool{}
	next, todo := set.keep(have) // next is the new state of the set's slices
	names := slices.Sorted(maps.Keys(todo))
	fill := func(slice *discoveryv1.EndpointSlice) {
		for len(names) > 0 && len(slice.Endpoints) < perSlice {
			slice.Endpoints, names = append(slice.Endpoints, todo[names[0]]), names[1:]
		}
	}
	for _, slice := range next {
		fill(slice)
	}
	for len(names) > 0 || len(next) == 0 {
		slice := add(set.family)
		slice.Ports = set.ports
		fill(slice)
		next = append(next, slice)
	}
	for i, slice := range next {
		if len(slice.Endpoints) == 0 && (i > 0 || len(set.endpoints) > 0) {
			continue // deleted by write
		}
		set.uses[slice.Name] = true
		if err := e.put(ctx, svc, slice, have); err != nil {
			return err
		}
	}
	return nil
}

// fits reports whether a slice may contain the endpoints of the set.
func (set *endpointSet) fits(slice *discoveryv1.EndpointSlice) bool {
	return slice.AddressType == set.family && apiequality.Semantic.DeepEqual(slice.Ports, set.ports)
}

// keep returns the slices of the set without the endpoints that are gone, and the endpoints that are
// in none of them.
func (set *endpointSet) keep(have []*discoveryv1.EndpointSlice) (kept []*discoveryv1.EndpointSlice, missing map[string]discoveryv1.Endpoint) {
	missing = maps.Clone(set.endpoints)
	for _, old := range have {
		if !set.fits(old) {
			continue
		}
		slice := old.DeepCopy()
		slice.Endpoints = nil
		for _, endpoint := range old.Endpoints {
			name := endpointName(endpoint)
			if current, ok := missing[name]; ok {
				slice.Endpoints = append(slice.Endpoints, current)
				delete(missing, name)
			}
		}
		kept = append(kept, slice)
	}
	return kept, missing
}

func endpointName(endpoint discoveryv1.Endpoint) string {
	if endpoint.TargetRef == nil {
		return ""
	}
	return endpoint.TargetRef.Name
}

// freeName returns the first free slice name of a service. Names are not random: if the cache does
// not show a slice that exists, creating it again fails instead of making a second one.
func freeName(svc *corev1.Service, taken map[string]bool) string {
	for i := 0; ; i++ {
		h := fnv.New32a()
		fmt.Fprint(h, svc.UID, i)
		suffix := rand.SafeEncodeString(fmt.Sprint(h.Sum32()))
		name := svc.Name + "-" + suffix[:min(5, len(suffix))]
		if !taken[name] {
			taken[name] = true
			return name
		}
	}
}

func (e *endpointSlice) put(ctx context.Context, svc *corev1.Service, slice *discoveryv1.EndpointSlice, have []*discoveryv1.EndpointSlice) error {
	slice.Labels = slicesLabels(svc)
	slice.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(svc, corev1.SchemeGroupVersion.WithKind("Service"))}
	api := e.client.DiscoveryV1().EndpointSlices(svc.Namespace)
	for _, old := range have {
		if old.Name != slice.Name {
			continue
		}
		if apiequality.Semantic.DeepEqual(old, slice) {
			return nil
		}
		_, err := api.Update(ctx, slice, metav1.UpdateOptions{})
		return err
	}
	_, err := api.Create(ctx, slice, metav1.CreateOptions{})
	return err
}

// slicesLabels returns the labels of a service's slices: the service's own labels, and the labels
// by which clients find the slices.
func slicesLabels(svc *corev1.Service) map[string]string {
	l := maps.Clone(svc.Labels)
	if l == nil {
		l = map[string]string{}
	}
	l[discoveryv1.LabelServiceName], l[discoveryv1.LabelManagedBy] = svc.Name, slicesManager
	delete(l, corev1.IsHeadlessService)
	if svc.Spec.ClusterIP == corev1.ClusterIPNone {
		l[corev1.IsHeadlessService] = ""
	}
	return l
}
