package watch

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// rule decides which events of a kind are changes: those that affect fields that the sync reads.
// ingress-nginx's event handlers miss some of them; see docs/compat.md.
type rule[T any] struct {
	created func(*T) bool
	updated func(old, new *T) bool
	deleted func(*T) bool
	always  bool // each change needs its own sync
}

// handle returns an event handler that records objects in the ledger, and puts the events that the
// rule selects into the ring.
func handle[T any](s *Store, kind string, r rule[T]) cache.ResourceEventHandler {
	put := func(verb string, object any) {
		name, err := cache.MetaNamespaceKeyFunc(object)
		if err != nil {
			name = err.Error() // not an API object, but still a change
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
			// The informer missed the deletion and reports the last state that it saw.
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

// note records an object in the ledger. It ignores ingresses: accept and forget record the accepted
// ones.
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

// always returns a rule that selects creations, deletions, and updates of the fields that read
// returns.
func always[T any](read func(*T) any) rule[T] {
	every := func(*T) bool { return true }
	return rule[T]{
		created: every,
		updated: func(old, new *T) bool { return !equality.Semantic.DeepEqual(read(old), read(new)) },
		deleted: every,
	}
}

// sliceRule considers only the fields that decide where requests go.
func sliceRule() rule[discoveryv1.EndpointSlice] {
	return always(func(slice *discoveryv1.EndpointSlice) any {
		endpoints := make([]any, len(slice.Endpoints))
		for i, endpoint := range slice.Endpoints {
			endpoints[i] = []any{endpoint.Addresses, endpoint.Conditions.Ready, endpoint.Hints}
		}
		return []any{slice.Labels[discoveryv1.LabelServiceName], slice.AddressType, slice.Ports, endpoints}
	})
}

// serviceRule considers the whole spec, because Lua receives it.
func serviceRule() rule[corev1.Service] {
	return always(func(service *corev1.Service) any {
		return []any{service.UID, service.Spec, service.Annotations[corev1.AnnotationTopologyMode]}
	})
}

// classRule considers events that change which ingresses are ours.
func (s *Store) classRule() rule[networkingv1.IngressClass] {
	return rule[networkingv1.IngressClass]{
		created: func(*networkingv1.IngressClass) bool { return s.followAnew() },
		updated: func(_, _ *networkingv1.IngressClass) bool { return s.followAnew() },
		deleted: func(*networkingv1.IngressClass) bool { return s.followAnew() },
	}
}

// namespaceRule ignores updates, because the informer has only the namespaces that the selector
// matches.
func (s *Store) namespaceRule() rule[corev1.Namespace] {
	return rule[corev1.Namespace]{
		created: func(*corev1.Namespace) bool { return s.followAnew() },
		updated: func(_, _ *corev1.Namespace) bool { return false },
		deleted: func(*corev1.Namespace) bool { return s.followAnew() },
	}
}

// configMapRule considers the controller's own ConfigMaps, and those that the configuration uses.
// After a change of its own ConfigMaps, the controller may accept ingresses that it rejected
// before.
func (s *Store) configMapRule() rule[corev1.ConfigMap] {
	changed := func(config *corev1.ConfigMap, verb string) bool {
		name := types.NamespacedName{Namespace: config.Namespace, Name: config.Name}
		if !slices.Contains(s.options.ConfigMaps, name) {
			return s.options.Reads != nil && s.options.Reads(name)
		}
		s.events.Event(config, corev1.EventTypeNormal, verb, "ConfigMap "+name.String())
		s.reconsider()
		return true
	}
	return rule[corev1.ConfigMap]{
		created: func(config *corev1.ConfigMap) bool { return changed(config, "CREATE") },
		updated: func(old, new *corev1.ConfigMap) bool {
			return !maps.Equal(old.Data, new.Data) && changed(new, "UPDATE")
		},
		deleted: func(config *corev1.ConfigMap) bool { return changed(config, "DELETE") },
		always:  true,
	}
}
