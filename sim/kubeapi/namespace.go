package kubeapi

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// Where there is no namespace controller the server plays it: it deletes what is
// in a namespace that is deleted, and then the namespace.

// endNamespace marks a namespace as terminating, deletes its contents and, if
// nothing holds on, the namespace itself.
func (s *clusterState) endNamespace(base *object) (*object, error) {
	o := base
	if !base.deleting {
		obj, err := base.decode()
		if err != nil {
			return nil, err
		}
		markDeleted(metadataOf(obj), 0)
		obj.(*corev1.Namespace).Status.Phase = corev1.NamespaceTerminating
		if o, err = s.markNamespace(base, obj.(*corev1.Namespace)); err != nil {
			return nil, err
		}
	}
	if s.namespaceController {
		return o, s.settleNamespace(base.name)
	}
	for c := range s.everyCollection() {
		if !c.res.clusterScoped {
			if err := s.empty(c, base.name); err != nil {
				return nil, err
			}
		}
	}
	return o, s.settleNamespace(base.name)
}

// sweep ends what a namespace controller has left in a namespace that it let go: objects
// whose definition serves them no more, which it could not see.
func (s *clusterState) sweep(name string) error {
	ns := s.namespaces.get(name)
	if ns == nil {
		return nil
	}
	obj, err := ns.decode()
	if err != nil || len(obj.(*corev1.Namespace).Spec.Finalizers) > 0 {
		return err
	}
	for c := range s.everyCollection() {
		if c.res.custom != nil && !c.res.clusterScoped {
			if err := s.empty(c, name); err != nil {
				return err
			}
		}
	}
	return s.settleNamespace(name)
}

// markNamespace waits for the creations that have looked at the namespace
// already, so that none comes after its contents were deleted.
func (s *clusterState) markNamespace(base *object, terminating *corev1.Namespace) (*object, error) {
	s.creating.Lock()
	defer s.creating.Unlock()
	return s.namespaces.commit(watch.Modified, base, terminating)
}

// empty ends all objects in a namespace.
func (s *clusterState) empty(c *collection, namespace string) error {
	objects, _, _ := c.snapshot()
	for _, o := range objects {
		if o.namespace != namespace {
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
func (s *clusterState) settleNamespace(name string) error {
	for {
		ns := s.namespaces.get(name)
		if ns == nil || !ns.deleting {
			return nil
		}
		last, err := ns.decode()
		if err != nil {
			return err
		}
		if !s.mayGo(ns, last) {
			return nil
		}
		if _, err := s.namespaces.commit(watch.Deleted, ns, last); !moved(err) {
			return err
		}
	}
}

// vacated says whether nothing is left in a namespace.
func (s *clusterState) vacated(namespace string) bool {
	for c := range s.everyCollection() {
		if !c.res.clusterScoped && c.holdsIn(namespace) {
			return false
		}
	}
	return true
}
