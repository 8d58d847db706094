package watch

import (
	"reflect"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ingressRule keeps the accepted ingresses. An ingress that was not ours and
// is now is created, one that is ours no longer is deleted.
func (s *Store) ingressRule() rule[networkingv1.Ingress] {
	return rule[networkingv1.Ingress]{
		created: func(ingress *networkingv1.Ingress) bool {
			return s.follows(ingress) && s.accept(ingress)
		},
		updated: func(old, new *networkingv1.Ingress) bool {
			if !s.follows(new) {
				return s.forget(new)
			}
			if s.has(new) && reflect.DeepEqual(old, new) {
				return false
			}
			return s.accept(new)
		},
		deleted: s.forget,
	}
}

// follows says whether an ingress is this controller's business at all.
func (s *Store) follows(ingress *networkingv1.Ingress) bool {
	switch {
	case !s.followsNamespace(ingress.Namespace):
		s.log.Debug("ingress ignored", "ingress", key(ingress), "reason", "its namespace does not match --watch-namespace-selector")
	case !s.ours(ingress):
		s.log.Debug("ingress ignored", "ingress", key(ingress), "reason", "it is of no IngressClass that this controller serves")
	case s.options.DisableCatchAll && ingress.Spec.DefaultBackend != nil:
		s.log.Warn("ingress ignored", "ingress", key(ingress), "reason", "it has spec.defaultBackend, which --disable-catch-all forbids")
	default:
		return true
	}
	return false
}

func (s *Store) followsNamespace(name string) bool {
	if s.namespaces == nil {
		return true
	}
	_, exists, err := s.namespaces.GetStore().GetByKey(name)
	return err == nil && exists
}

func (s *Store) has(ingress *networkingv1.Ingress) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, has := s.accepted[key(ingress)]
	return has
}

func key(ingress *networkingv1.Ingress) types.NamespacedName {
	return types.NamespacedName{Namespace: ingress.Namespace, Name: ingress.Name}
}
