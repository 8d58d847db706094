package watch

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/snapshot"
)

// rejection is a rejected version of an ingress.
type rejection struct {
	ingress *networkingv1.Ingress
	clean   *networkingv1.Ingress // without text that must not appear in nginx.conf
	reason  error
}

// accept stores an ingress. If its content is rejected, the earlier version stays, and accept also
// stores the rejected version. The sync decides which of the two to serve, if any, so both cases
// are changes.
//
// As in ingress-nginx, an ingress that --deep-inspect rejects gets no Event "Sync"; one with
// rejected annotations gets it before the Event with the reason.
func (s *Store) accept(ingress *networkingv1.Ingress) {
	denied, err := "", s.Inspect(ingress)
	if err == nil {
		s.recordSync(ingress)
		denied, err = s.judge(ingress)
	}
	s.mu.Lock()
	if err != nil {
		s.rejected[key(ingress)] = rejection{ingress, WithoutSuspicious(ingress), err}
	} else {
		delete(s.rejected, key(ingress))
		s.accepted[key(ingress)] = ingress
		s.ledger.Put(ingress)
	}
	s.mu.Unlock()
	if err != nil {
		s.log.Warn("ingress rejected", "ingress", key(ingress), "reason", err.Error())
		s.events.Event(ingress, corev1.EventTypeWarning, "Rejected", err.Error())
		return
	}
	s.recordDenied(ingress, denied)
}

func (s *Store) recordSync(ingress *networkingv1.Ingress) {
	if !s.options.DisableSyncEvents {
		s.events.Event(ingress, corev1.EventTypeNormal, "Sync", "Scheduled for sync")
	}
}

func (s *Store) recordDenied(ingress *networkingv1.Ingress, denied string) {
	if denied != "" {
		s.events.Event(ingress, corev1.EventTypeWarning, "AnnotationParsingFailed", denied)
	}
}

// judge decides whether the annotations of an ingress are accepted.
func (s *Store) judge(ingress *networkingv1.Ingress) (denied string, err error) {
	if s.options.Accept == nil {
		return "", nil
	}
	return s.options.Accept(ingress)
}

// reconsider accepts those rejected ingresses that the current ConfigMap allows. It waits for any
// ingress that is still judged by the earlier ConfigMap.
func (s *Store) reconsider() {
	s.judging.Lock()
	defer s.judging.Unlock()
	s.mu.RLock()
	rejected := maps.Clone(s.rejected)
	s.mu.RUnlock()
	for name, was := range rejected {
		if s.Inspect(was.ingress) != nil {
			continue
		}
		denied, err := s.judge(was.ingress)
		if err != nil {
			continue
		}
		s.mu.Lock()
		delete(s.rejected, name)
		s.accepted[name] = was.ingress
		s.ledger.Put(was.ingress)
		s.mu.Unlock()
		s.recordSync(was.ingress)
		s.recordDenied(was.ingress, denied)
	}
}

// Rejected returns the newest versions of rejected ingresses, sorted by name.
func (s *Store) Rejected() []snapshot.Rejection {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.rejections()
}

func (s *Store) rejections() []snapshot.Rejection {
	var all []snapshot.Rejection
	for _, name := range slices.SortedFunc(maps.Keys(s.rejected), func(x, y types.NamespacedName) int { return cmp.Compare(x.String(), y.String()) }) {
		rejected := s.rejected[name]
		all = append(all, snapshot.Rejection{Ingress: rejected.clean, Reason: rejected.reason.Error()})
	}
	return all
}

// forget removes an ingress and reports whether the store had it.
func (s *Store) forget(ingress *networkingv1.Ingress) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, had := s.accepted[key(ingress)]
	_, rejected := s.rejected[key(ingress)]
	delete(s.accepted, key(ingress))
	s.ledger.Drop(ingress)
	delete(s.rejected, key(ingress))
	return had || rejected
}
