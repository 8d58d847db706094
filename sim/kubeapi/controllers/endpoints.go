package controllers

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	listers "k8s.io/client-go/listers/core/v1"
	discoverylisters "k8s.io/client-go/listers/discovery/v1"
	"k8s.io/utils/ptr"
)

const (
	// managedEndpoints is the label of the Endpoints that the controller wrote, since v1.33.
	managedEndpoints = "endpoints.kubernetes.io/managed-by"
	endpointsManager = "endpoint-controller"
	// endpointsDelay is how long Endpoints may lag behind the slices. Each write of Endpoints
	// contains all addresses, and few clients still read them.
	endpointsDelay = 100 * time.Millisecond
)

// endpoints maintains the Endpoints of Services with a selector. It derives them from the
// EndpointSlices of package controllers, not from pods as Kubernetes does, so that changes of
// pods cost nothing here.
type endpoints struct {
	*cluster
	services  listers.ServiceLister
	pods      listers.PodLister
	endpoints listers.EndpointsLister
	slices    discoverylisters.EndpointSliceLister
}

func newEndpoints(c *cluster) (*loop, error) {
	core := c.informers.Core().V1()
	e := &endpoints{cluster: c, services: core.Services().Lister(), pods: core.Pods().Lister(), endpoints: core.Endpoints().Lister(),
		slices: c.informers.Discovery().V1().EndpointSlices().Lister()}
	l := newLoop(e.sync)
	l.delay = endpointsDelay
	l.watch(core.Services().Informer(), ownKey)
	l.watch(core.Endpoints().Informer(), ownKey)
	l.watch(c.informers.Discovery().V1().EndpointSlices().Informer(), serviceKey)
	core.Pods().Informer()
	return l, nil
}

func (e *endpoints) sync(ctx context.Context, key string) error {
	namespace, name := splitKey(key)
	old, err := e.endpoints.Endpoints(namespace).Get(name)
	if ignoreNotFound(err) != nil {
		return err
	}
	svc, err := e.services.Services(namespace).Get(name)
	switch {
	case apierrors.IsNotFound(err):
		return e.delete(ctx, old)
	case err != nil || svc.DeletionTimestamp != nil || len(svc.Spec.Selector) == 0 || svc.Spec.Type == corev1.ServiceTypeExternalName:
		return err
	}
	found, err := e.slices.EndpointSlices(namespace).List(labels.SelectorFromValidatedSet(labels.Set{
		discoveryv1.LabelServiceName: name, discoveryv1.LabelManagedBy: slicesManager}))
	if err != nil || len(found) == 0 {
		return err // even a service without endpoints gets a slice
	}
	return e.write(ctx, svc, old, endpointsFrom(svc, found))
}

// delete deletes the Endpoints of a deleted service, if the controller wrote them.
func (e *endpoints) delete(ctx context.Context, old *corev1.Endpoints) error {
	if old == nil || old.Labels[managedEndpoints] != endpointsManager {
		return nil
	}
	return ignoreNotFound(e.client.CoreV1().Endpoints(old.Namespace).Delete(ctx, old.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &old.UID}}))
}

// write creates or updates the Endpoints of a service if its subsets or labels changed.
func (e *endpoints) write(ctx context.Context, svc *corev1.Service, old *corev1.Endpoints, subsets []corev1.EndpointSubset) error {
	next := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: svc.Namespace, Name: svc.Name}}
	if old != nil {
		next = old.DeepCopy()
	}
	truncated := truncateSubsets(subsets)
	next.Labels, next.Subsets = endpointsLabels(svc), subsets
	setOrDelete(&next.ObjectMeta, corev1.EndpointsOverCapacity, "truncated", truncated)
	if old != nil && apiequality.Semantic.DeepEqual(old, next) {
		return nil
	}
	changed := e.changedAt(svc, old, subsets)
	setOrDelete(&next.ObjectMeta, corev1.EndpointsLastChangeTriggerTime, changed.UTC().Format(time.RFC3339Nano), !changed.IsZero())
	api := e.client.CoreV1().Endpoints(svc.Namespace)
	var err error
	if old == nil {
		_, err = api.Create(ctx, next, metav1.CreateOptions{})
	} else {
		_, err = api.Update(ctx, next, metav1.UpdateOptions{})
	}
	return err
}

func setOrDelete(m *metav1.ObjectMeta, annotation, value string, set bool) {
	if set {
		metav1.SetMetaDataAnnotation(m, annotation, value)
	} else {
		delete(m.Annotations, annotation)
	}
}

// endpointsLabels returns the labels of a service's Endpoints.
func endpointsLabels(svc *corev1.Service) map[string]string {
	l := maps.Clone(svc.Labels)
	if l == nil {
		l = map[string]string{}
	}
	l[managedEndpoints] = endpointsManager
	delete(l, corev1.IsHeadlessService)
	if svc.Spec.ClusterIP == corev1.ClusterIPNone {
		l[corev1.IsHeadlessService] = ""
	}
	return l
}

// changedAt returns when the earliest of the new or changed pods became ready or unready, or when
// the service was created; zero if addresses were only removed.
func (e *endpoints) changedAt(svc *corev1.Service, old *corev1.Endpoints, subsets []corev1.EndpointSubset) time.Time {
	earliest := time.Time{}
	earlier := func(t time.Time) {
		if earliest.IsZero() || t.Before(earliest) {
			earliest = t
		}
	}
	was := map[string]bool{}
	if old == nil {
		earlier(svc.CreationTimestamp.Time)
	} else {
		was = readiness(old.Subsets)
	}
	for name, ready := range readiness(subsets) {
		if before, known := was[name]; known && before == ready {
			continue
		}
		if pod, err := e.pods.Pods(svc.Namespace).Get(name); err == nil {
			if c := condition(pod, corev1.PodReady); c != nil {
				earlier(c.LastTransitionTime.Time)
			}
		}
	}
	return earliest
}

// readiness returns whether each pod is ready.
func readiness(subsets []corev1.EndpointSubset) map[string]bool {
	ready := map[string]bool{}
	for _, subset := range subsets {
		for _, a := range subset.NotReadyAddresses {
			ready[ptr.Deref(a.TargetRef, corev1.ObjectReference{}).Name] = false
		}
		for _, a := range subset.Addresses {
			ready[ptr.Deref(a.TargetRef, corev1.ObjectReference{}).Name] = true
		}
	}
	return ready
}

// endpointsFrom returns the subsets that have the content of a service's slices: one for each set
// of ports, in the primary address family. Terminating pods are left out, except for services with
// publishNotReadyAddresses.
func endpointsFrom(svc *corev1.Service, from []*discoveryv1.EndpointSlice) []corev1.EndpointSubset {
	family := discoveryv1.AddressTypeIPv4
	if len(svc.Spec.IPFamilies) > 0 {
		family = discoveryv1.AddressType(svc.Spec.IPFamilies[0])
	}
	byPorts := map[string]*corev1.EndpointSubset{}
	for _, slice := range from {
		if slice.AddressType != family || len(slice.Ports) == 0 && len(svc.Spec.Ports) > 0 {
			continue // a pod without any of the ports has no endpoint
		}
		key := portsKey(slice.Ports)
		if byPorts[key] == nil {
			byPorts[key] = &corev1.EndpointSubset{Ports: endpointPorts(slice.Ports)}
		}
		subset := byPorts[key]
		for _, endpoint := range slice.Endpoints {
			switch {
			case ptr.Deref(endpoint.Conditions.Terminating, false) && !svc.Spec.PublishNotReadyAddresses:
			case ptr.Deref(endpoint.Conditions.Ready, true):
				subset.Addresses = append(subset.Addresses, endpointAddress(endpoint))
			default:
				subset.NotReadyAddresses = append(subset.NotReadyAddresses, endpointAddress(endpoint))
			}
		}
	}
	var subsets []corev1.EndpointSubset
	for _, key := range slices.Sorted(maps.Keys(byPorts)) {
		if subset := byPorts[key]; len(subset.Addresses)+len(subset.NotReadyAddresses) > 0 {
			slices.SortFunc(subset.Addresses, byIP)
			slices.SortFunc(subset.NotReadyAddresses, byIP)
			subsets = append(subsets, *subset)
		}
	}
	return subsets
}

func byIP(a, b corev1.EndpointAddress) int { return cmp.Compare(a.IP, b.IP) }

func endpointPorts(ports []discoveryv1.EndpointPort) []corev1.EndpointPort {
	var all []corev1.EndpointPort
	for _, p := range ports {
		all = append(all, corev1.EndpointPort{Name: ptr.Deref(p.Name, ""), Port: ptr.Deref(p.Port, 0),
			Protocol: ptr.Deref(p.Protocol, corev1.ProtocolTCP), AppProtocol: p.AppProtocol})
	}
	return all
}

func endpointAddress(endpoint discoveryv1.Endpoint) corev1.EndpointAddress {
	return corev1.EndpointAddress{IP: endpoint.Addresses[0], Hostname: ptr.Deref(endpoint.Hostname, ""),
		NodeName: endpoint.NodeName, TargetRef: endpoint.TargetRef}
}
