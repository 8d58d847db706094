package cluster

import (
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/internal/store"
)

// staleQuotas are the namespaces whose quotas are being synced after changes by Writers. The value is
// true if another change needs another sync.
type staleQuotas struct {
	sync.Mutex
	again map[string]bool
}

// syncQuotasLater syncs the quotas of a namespace after a change by a Writer, if the change affects
// them. It does not wait: changes that are faster than a sync share the next one.
func (s *State) syncQuotasLater(op *Operation, t store.Transition) {
	namespace := op.Namespace
	if namespace == "" || !s.quotas.HasObjectsIn(namespace) || !s.affectsQuotas(op, t) {
		return
	}
	s.stale.Lock()
	defer s.stale.Unlock()
	_, syncing := s.stale.again[namespace]
	s.stale.again[namespace] = syncing
	if !syncing {
		go s.syncWhileStale(namespace)
	}
}

// syncWhileStale syncs the quotas of a namespace until no change is left.
func (s *State) syncWhileStale(namespace string) {
	for again := true; again; {
		s.syncQuotas(namespace)
		s.stale.Lock()
		if again = s.stale.again[namespace]; again {
			s.stale.again[namespace] = false
		} else {
			delete(s.stale.again, namespace)
		}
		s.stale.Unlock()
	}
}

// affectsQuotas reports whether a change affects the status of quotas. Objects of most kinds take the
// same amounts in all their states.
func (s *State) affectsQuotas(op *Operation, t store.Transition) bool {
	if t.Kind != watch.Modified {
		return t.Kind != ""
	}
	switch t.Next.(type) {
	case *corev1.ResourceQuota:
		return true
	case *corev1.Pod, *corev1.Service, *corev1.PersistentVolumeClaim:
		old, err := t.Base.Decode()
		return err == nil && !equality.Semantic.DeepEqual(amounts(op.Objects.Resource, old), amounts(op.Objects.Resource, t.Next))
	}
	return false
}
