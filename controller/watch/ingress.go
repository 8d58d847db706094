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

// replace notes a version of an ingress in which nothing is new that a sync
// reads, such as one with another status, and says whether it is one. The ledger
// keeps the version that it has: nothing has to be worked out again.
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
		return false // it was not ours before
	}
	s.accepted[key(new)] = new
	return true
}

// sameIngress tells whether two versions are the same in all that a sync reads.
func sameIngress(a, b *networkingv1.Ingress) bool {
	return a.UID == b.UID && a.CreationTimestamp.Equal(&b.CreationTimestamp) &&
		maps.Equal(a.Annotations, b.Annotations) && equality.Semantic.DeepEqual(a.Spec, b.Spec)
}

// followAnew looks at all ingresses again after a class or a namespace has come,
// changed or gone, and says whether others are ours now.
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

// has says whether an ingress is accepted, or refused for its content.
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
