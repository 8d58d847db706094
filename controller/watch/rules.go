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

// rule says which events of a kind are changes: those of fields that the sync reads.
// ingress-nginx's event handlers miss some of them; see docs/compat.md.
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

// always counts creations, deletions, and each change of the fields that are read.
func always[T any](read func(*T) any) rule[T] {
	every := func(*T) bool { return true }
	return rule[T]{
		created: every,
		updated: func(old, new *T) bool { return !equality.Semantic.DeepEqual(read(old), read(new)) },
		deleted: every,
	}
}

// sliceRule: only the fields of endpoints that decide where requests go.
func sliceRule() rule[discoveryv1.EndpointSlice] {
	return always(func(slice *discoveryv1.EndpointSlice) any {
		endpoints := make([]any, len(slice.Endpoints))
		for i, endpoint := range slice.Endpoints {
			endpoints[i] = []any{endpoint.Addresses, endpoint.Conditions.Ready, endpoint.Hints}
		}
		return []any{slice.Labels[discoveryv1.LabelServiceName], slice.AddressType, slice.Ports, endpoints}
	})
}

// serviceRule: the whole spec is sent to Lua.
func serviceRule() rule[corev1.Service] {
	return always(func(service *corev1.Service) any {
		return []any{service.UID, service.Spec, service.Annotations[corev1.AnnotationTopologyMode]}
	})
}

// classRule: classes decide which ingresses are ours.
func (s *Store) classRule() rule[networkingv1.IngressClass] {
	return rule[networkingv1.IngressClass]{
		created: func(*networkingv1.IngressClass) bool { return s.followAnew() },
		updated: func(_, _ *networkingv1.IngressClass) bool { return s.followAnew() },
		deleted: func(*networkingv1.IngressClass) bool { return s.followAnew() },
	}
}

// namespaceRule: the informer has only the namespaces that the selector matches.
func (s *Store) namespaceRule() rule[corev1.Namespace] {
	return rule[corev1.Namespace]{
		created: func(*corev1.Namespace) bool { return s.followAnew() },
		updated: func(_, _ *corev1.Namespace) bool { return false },
		deleted: func(*corev1.Namespace) bool { return s.followAnew() },
	}
}

// configMapRule: the controller's own, and those that the configuration was
// made of. What they say can let in ingresses that were refused.
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
