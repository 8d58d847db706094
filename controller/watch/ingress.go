package watch

import (
	"maps"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
)

// ingressRule updates the accepted ingresses. An update that makes an ingress ours counts as a
// creation, and one after which it is no longer ours as a deletion.
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
			if old.UID != new.UID { // deleted and created while the informer did not watch
				s.forget(old)
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

// replace stores a new version of an ingress if it differs from the old one only in fields that no
// sync reads, such as the status, and reports whether it did. The ledger keeps the old version, so
// nothing is recomputed.
func (s *Store) replace(old, new *networkingv1.Ingress) bool {
	if !sameIngress(old, new) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if rejected, is := s.rejected[key(new)]; is && rejected.ingress == old {
		rejected.ingress = new
		s.rejected[key(new)] = rejected
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

// followAnew determines again which ingresses are ours, after a change of a class or a namespace.
// It reports whether the set changed.
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

// follows reports whether an ingress is ours: its namespace and class are, and its default backend
// is allowed.
func (s *Store) follows(ingress *networkingv1.Ingress) bool {
	switch {
	case !s.followsNamespace(ingress.Namespace):
		s.log.Debug("ingress ignored", "ingress", key(ingress), "reason", "its namespace does not match --watch-namespace-selector")
	case !s.ours(ingress):
		s.log.Debug("ingress ignored", "ingress", key(ingress), "reason", "this controller does not serve its IngressClass")
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

// has reports whether an ingress is stored: accepted, or rejected for its content.
func (s *Store) has(ingress *networkingv1.Ingress) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	_, accepted := s.accepted[key(ingress)]
	_, rejected := s.rejected[key(ingress)]
	return accepted || rejected
}

func key(ingress *networkingv1.Ingress) types.NamespacedName {
	return types.NamespacedName{Namespace: ingress.Namespace, Name: ingress.Name}
}
