package cluster

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// Where there is no namespace controller the server plays it: it deletes what is
// in a namespace that is deleted, and then the namespace.

// endNamespace marks a namespace as terminating, deletes its contents and, if
// nothing holds on, the namespace itself.
func (s *State) endNamespace(base *store.Object) (*store.Object, error) {
	o := base
	if !base.Deleting {
		obj, err := base.Decode()
		if err != nil {
			return nil, err
		}
		markDeleted(object.Meta(obj), 0)
		obj.(*corev1.Namespace).Status.Phase = corev1.NamespaceTerminating
		if o, err = s.markNamespace(base, obj.(*corev1.Namespace)); err != nil {
			return nil, err
		}
	}
	if s.namespaceController {
		return o, s.settleNamespace(base.Name)
	}
	for c := range s.EveryCollection() {
		if !c.Resource.ClusterScoped {
			if err := s.empty(c, base.Name); err != nil {
				return nil, err
			}
		}
	}
	return o, s.settleNamespace(base.Name)
}

// sweep ends what a namespace controller has left in a namespace that it let go: objects
// whose definition serves them no more, which it could not see.
func (s *State) sweep(name string) error {
	ns := s.namespaces.Get(name)
	if ns == nil {
		return nil
	}
	obj, err := ns.Decode()
	if err != nil || len(obj.(*corev1.Namespace).Spec.Finalizers) > 0 {
		return err
	}
	for c := range s.EveryCollection() {
		if c.Resource.Custom != nil && !c.Resource.ClusterScoped {
			if err := s.empty(c, name); err != nil {
				return err
			}
		}
	}
	return s.settleNamespace(name)
}

// markNamespace waits for the creations that have looked at the namespace
// already, so that none comes after its contents were deleted.
func (s *State) markNamespace(base *store.Object, terminating *corev1.Namespace) (*store.Object, error) {
	s.creating.Lock()
	defer s.creating.Unlock()
	return s.namespaces.Write(watch.Modified, base, terminating)
}

// empty ends all objects in a namespace.
func (s *State) empty(c *store.Collection, namespace string) error {
	objects, _, _ := c.Snapshot()
	for _, o := range objects {
		if o.Namespace != namespace {
			continue
		}
		if err := s.endKey(c, o); err != nil {
			return err
		}
	}
	return nil
}

// settleNamespace removes a terminating namespace when nothing is left in it. The
// empty name, of objects in no namespace, is of none.
func (s *State) settleNamespace(name string) error {
	for {
		ns := s.namespaces.Get(name)
		if ns == nil || !ns.Deleting {
			return nil
		}
		last, err := ns.Decode()
		if err != nil {
			return err
		}
		if !s.mayGo(ns, last) {
			return nil
		}
		if _, err := s.namespaces.Write(watch.Deleted, ns, last); !store.Moved(err) {
			return err
		}
	}
}

// vacated says whether nothing is left in a namespace.
func (s *State) vacated(namespace string) bool {
	for c := range s.EveryCollection() {
		if !c.Resource.ClusterScoped && c.HoldsIn(namespace) {
			return false
		}
	}
	return true
}
