package watch

import (
	"maps"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
)

// ingressRule keeps the accepted ingresses. An ingress that was not ours and
// is now is created, one that is ours no longer is deleted.
func (s *Store) ingressRule() rule[networkingv1.Ingress] {
	return rule[networkingv1.Ingress]{
		created: func(ingress *networkingv1.Ingress) bool {
			s.judging.Lock()
			defer s.judging.Unlock()
			if !s.follows(ingress) {
				return false
			}
			s.accept(ingress)
			return true
		},
		updated: func(old, new *networkingv1.Ingress) bool {
			s.judging.Lock()
			defer s.judging.Unlock()
			if !s.follows(new) {
				return s.forget(new)
			}
			if s.replace(old, new) {
				return false
			}
			s.accept(new)
			return true
		},
		deleted: func(ingress *networkingv1.Ingress) bool {
			s.judging.Lock()
			defer s.judging.Unlock()
			return s.forget(ingress)
		},
	}
}

// replace reports whether a version of an ingress differs only in fields that no sync
// reads, such as the status, and records it. The ledger keeps the version that it
// has, so nothing is computed again.
func (s *Store) replace(old, new *networkingv1.Ingress) bool {
	if !sameIngress(old, new) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if refused, is := s.refused[key(new)]; is && refused.ingress == old {
		refused.ingress = new
		s.refused[key(new)] = refused
		return true
	}
	if s.accepted[key(new)] != old {
		return false // not ours before
	}
	s.accepted[key(new)] = new
	return true
}

// sameIngress reports whether two versions are equal in all fields that a sync reads.
func sameIngress(a, b *networkingv1.Ingress) bool {
	return a.UID == b.UID && a.CreationTimestamp.Equal(&b.CreationTimestamp) &&
		maps.Equal(a.Annotations, b.Annotations) && equality.Semantic.DeepEqual(a.Spec, b.Spec)
}

// followAnew checks all ingresses again after a change of a class or a namespace, and
// reports whether the set of our ingresses has changed.
func (s *Store) followAnew() bool {
	s.judging.Lock()
	defer s.judging.Unlock()
	changed := false
	for _, ingress := range list[networkingv1.Ingress](s.ingresses) {
		switch follows, has := s.follows(ingress), s.has(ingress); {
		case follows && !has:
			s.accept(ingress)
			changed = true
		case !follows && has:
			changed = s.forget(ingress) || changed
		}
	}
	return changed
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

// has reports whether an ingress is stored: accepted, or refused for its content.
func (s *Store) has(ingress *networkingv1.Ingress) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, accepted := s.accepted[key(ingress)]
	_, refused := s.refused[key(ingress)]
	return accepted || refused
}

func key(ingress *networkingv1.Ingress) types.NamespacedName {
	return types.NamespacedName{Namespace: ingress.Namespace, Name: ingress.Name}
}
