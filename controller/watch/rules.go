package watch

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// rule says which events of a kind are changes. The rules are those of
// ingress-nginx's event handlers.
type rule[T any] struct {
	created func(*T) bool
	updated func(old, new *T) bool
	deleted func(*T) bool
	always  bool // each change has a sync of its own
}

// handle notes what events say, and puts those that a rule calls changes into
// the ring.
func handle[T any](s *Store, kind string, r rule[T]) cache.ResourceEventHandler {
	put := func(verb string, object any) {
		name, err := cache.MetaNamespaceKeyFunc(object)
		if err != nil {
			name = err.Error() // not an API object; the change is one all the same
		}
		s.changes.Put(verb+" "+kind+" "+name, r.always)
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) {
			s.note(object, false)
			if r.created(object.(*T)) {
				put("create", object)
			}
		},
		UpdateFunc: func(old, new any) {
			s.note(new, false)
			if r.updated(old.(*T), new.(*T)) {
				put("update", new)
			}
		},
		DeleteFunc: func(object any) {
			// The informer missed the deletion itself and knows the last
			// state that it saw.
			if unknown, ok := object.(cache.DeletedFinalStateUnknown); ok {
				object = unknown.Obj
			}
			s.note(object, true)
			if r.deleted(object.(*T)) {
				put("delete", object)
			}
		},
	}
}

// note keeps the ledger. Of ingresses it has those that are accepted, see
// accept and forget.
func (s *Store) note(object any, gone bool) {
	if _, judged := object.(*networkingv1.Ingress); judged {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if gone {
		s.ledger.Drop(object)
	} else {
		s.ledger.Put(object)
	}
}

func always[T any](*T) bool { return true }

// sliceRule: an update counts only when the endpoints differ; ports and labels
// alone do not.
func sliceRule() rule[discoveryv1.EndpointSlice] {
	return rule[discoveryv1.EndpointSlice]{
		created: always[discoveryv1.EndpointSlice],
		updated: func(old, new *discoveryv1.EndpointSlice) bool {
			return !reflect.DeepEqual(old.Endpoints, new.Endpoints)
		},
		deleted: always[discoveryv1.EndpointSlice],
	}
}

// serviceRule: a Service comes and goes with its EndpointSlices, but one of
// type ExternalName has none.
func serviceRule() rule[corev1.Service] {
	external := func(service *corev1.Service) bool { return service.Spec.Type == corev1.ServiceTypeExternalName }
	return rule[corev1.Service]{
		created: external,
		updated: func(old, new *corev1.Service) bool { return !reflect.DeepEqual(old, new) },
		deleted: external,
	}
}

// classRule: a class that changes its controller is not noticed, nor are the
// ingresses that were refused for the lack of it.
func (s *Store) classRule() rule[networkingv1.IngressClass] {
	return rule[networkingv1.IngressClass]{
		created: s.servesClass,
		updated: func(old, new *networkingv1.IngressClass) bool {
			return s.servesClass(new) && !reflect.DeepEqual(old.Spec.Parameters, new.Spec.Parameters)
		},
		deleted: s.servesClass,
	}
}

// configMapRule: the controller's own, and those that the configuration was
// made of. The deletion of one of its own leaves the configuration as it was
// until something else changes. What they say can let in ingresses that were
// refused.
func (s *Store) configMapRule() rule[corev1.ConfigMap] {
	own := func(name types.NamespacedName) bool { return slices.Contains(s.options.ConfigMaps, name) }
	reads := func(name types.NamespacedName) bool { return s.options.Reads != nil && s.options.Reads(name) }
	changed := func(config *corev1.ConfigMap, verb string) bool {
		name := types.NamespacedName{Namespace: config.Namespace, Name: config.Name}
		if !own(name) {
			return reads(name)
		}
		s.events.Event(config, corev1.EventTypeNormal, verb, "ConfigMap "+name.String())
		s.reconsider()
		return true
	}
	return rule[corev1.ConfigMap]{
		created: func(config *corev1.ConfigMap) bool { return changed(config, "CREATE") },
		updated: func(old, new *corev1.ConfigMap) bool { return !reflect.DeepEqual(old, new) && changed(new, "UPDATE") },
		deleted: func(config *corev1.ConfigMap) bool {
			name := types.NamespacedName{Namespace: config.Namespace, Name: config.Name}
			return !own(name) && reads(name)
		},
		always: true,
	}
}
