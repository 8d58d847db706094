package watch

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/model"
)

// refusal is a version of an ingress that is not taken.
type refusal struct {
	ingress *networkingv1.Ingress
	reason  error
}

// accept stores an ingress and says whether it did. One that is refused for
// its content leaves its earlier version in place.
func (s *Store) accept(ingress *networkingv1.Ingress) bool {
	denied, err := s.check(ingress)
	s.mu.Lock()
	if err != nil {
		s.refused[key(ingress)] = refusal{ingress, err}
	} else {
		delete(s.refused, key(ingress))
		s.accepted[key(ingress)] = ingress
		s.ledger.Put(ingress)
	}
	s.mu.Unlock()
	if err != nil {
		s.log.Warn("ingress refused", "ingress", key(ingress), "reason", err.Error())
		s.events.Event(ingress, corev1.EventTypeWarning, "Rejected", err.Error())
		return false
	}
	s.tell(ingress, denied)
	return true
}

// tell records on an ingress that it was taken.
func (s *Store) tell(ingress *networkingv1.Ingress, denied string) {
	if denied != "" {
		s.events.Event(ingress, corev1.EventTypeWarning, "AnnotationParsingFailed", denied)
	}
	if !s.options.DisableSyncEvents {
		s.events.Event(ingress, corev1.EventTypeNormal, "Sync", "Scheduled for sync")
	}
}

func (s *Store) check(ingress *networkingv1.Ingress) (denied string, err error) {
	if s.options.DeepInspect {
		if err := Inspect(ingress); err != nil {
			return "", err
		}
	}
	if s.options.Check == nil {
		return "", nil
	}
	return s.options.Check(ingress)
}

// reconsider takes what was refused and, as the ConfigMap now is, no longer
// would be.
func (s *Store) reconsider() {
	s.mu.RLock()
	refused := maps.Clone(s.refused)
	s.mu.RUnlock()
	for name, was := range refused {
		denied, err := s.check(was.ingress)
		if err != nil {
			continue
		}
		s.mu.Lock()
		current := s.refused[name].ingress == was.ingress // no other version has come meanwhile
		if current {
			delete(s.refused, name)
			s.accepted[name] = was.ingress
			s.ledger.Put(was.ingress)
		}
		s.mu.Unlock()
		if current {
			s.tell(was.ingress, denied)
		}
	}
}

// Refused are the ingresses whose newest version is not taken, by name.
func (s *Store) Refused() []model.Finding {
	s.mu.RLock()
	defer s.mu.RUnlock()
	var all []model.Finding
	for name, refused := range s.refused {
		instead := "it is not served"
		if s.accepted[name] != nil {
			instead = "its last good version is served"
		}
		all = append(all, model.Finding{Object: "Ingress " + name.String(), Reason: fmt.Sprintf("%v; %s", refused.reason, instead)})
	}
	slices.SortFunc(all, func(x, y model.Finding) int { return cmp.Compare(x.Object, y.Object) })
	return all
}

// forget drops an ingress and says whether there was one.
func (s *Store) forget(ingress *networkingv1.Ingress) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, had := s.accepted[key(ingress)]
	delete(s.accepted, key(ingress))
	s.ledger.Drop(ingress)
	delete(s.refused, key(ingress))
	return had
}
