package cluster

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// Without a namespace controller the server does that controller's work: it deletes the contents of
// a deleted namespace, and then the namespace.

// deleteNamespace marks a namespace as terminating and deletes its contents, and the namespace too
// if nothing remains.
func (s *State) deleteNamespace(base *store.Object) (*store.Object, error) {
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
		return o, s.removeNamespaceIfEmpty(base.Name)
	}
	for c := range s.EveryCollection() {
		if !c.Resource.ClusterScoped {
			if err := s.deleteAllIn(c, base.Name); err != nil {
				return nil, err
			}
		}
	}
	return o, s.removeNamespaceIfEmpty(base.Name)
}

// sweep deletes the objects that remain in a namespace after a namespace controller released it:
// the controller could not see them because their definition no longer serves them.
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
			if err := s.deleteAllIn(c, name); err != nil {
				return err
			}
		}
	}
	return s.removeNamespaceIfEmpty(name)
}

// markNamespace marks a namespace as terminating. It waits for creations that have already passed
// the check of the namespace, so that nothing is created after its contents were deleted.
func (s *State) markNamespace(base *store.Object, terminating *corev1.Namespace) (*store.Object, error) {
	s.creating.Lock()
	defer s.creating.Unlock()
	return s.namespaces.Write(watch.Modified, base, terminating)
}

// deleteAllIn deletes all objects of c in a namespace.
func (s *State) deleteAllIn(c *store.Collection, namespace string) error {
	objects, _, _ := c.Snapshot()
	for _, o := range objects {
		if o.Namespace != namespace {
			continue
		}
		if err := s.deleteRetrying(c, o); err != nil {
			return err
		}
	}
	return nil
}

// removeNamespaceIfEmpty removes a terminating namespace that is empty. An empty name, which
// cluster-scoped objects have, is ignored.
func (s *State) removeNamespaceIfEmpty(name string) error {
	for {
		ns := s.namespaces.Get(name)
		if ns == nil || !ns.Deleting {
			return nil
		}
		last, err := ns.Decode()
		if err != nil {
			return err
		}
		if !s.isRemovable(ns, last) {
			return nil
		}
		if _, err := s.namespaces.Write(watch.Deleted, ns, last); !store.IsConflict(err) {
			return err
		}
	}
}

// isNamespaceEmpty reports whether a namespace is empty.
func (s *State) isNamespaceEmpty(namespace string) bool {
	for c := range s.EveryCollection() {
		if !c.Resource.ClusterScoped && c.HasObjectsIn(namespace) {
			return false
		}
	}
	return true
}
