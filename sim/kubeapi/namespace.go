package kubeapi

import (
	stderrors "errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// Where there is no namespace controller the server plays it: it deletes what is
// in a namespace that is deleted, and then the namespace.

// mayDelete refuses to delete the namespaces that kube-apiserver protects (admission
// plugin NamespaceLifecycle). The other namespaces of a new cluster, such as
// kube-node-lease, can be deleted.
func (r *request) mayDelete() error {
	if r.objects.res.groupResource() != (schema.GroupResource{Resource: "namespaces"}) {
		return nil
	}
	switch r.name {
	case metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic:
		return errors.NewForbidden(r.res.groupResource(), r.name, stderrors.New("this namespace may not be deleted"))
	}
	return nil
}

// endNamespace marks a namespace as terminating, deletes its contents and, if
// nothing holds on, the namespace itself.
func (s *Server) endNamespace(base *object) (*object, error) {
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
	if s.opts.NamespaceController {
		return o, s.settleNamespace(base.name)
	}
	for c := range s.everyCollection() {
		if !c.res.clusterScoped {
			if err := c.empty(base.name); err != nil {
				return nil, err
			}
		}
	}
	return o, s.settleNamespace(base.name)
}

// sweep ends what a namespace controller has left in a namespace that it let go: objects
// whose definition serves them no more, which it could not see.
func (s *Server) sweep(name string) error {
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
			if err := c.empty(name); err != nil {
				return err
			}
		}
	}
	return s.settleNamespace(name)
}

// markNamespace waits for the creations that have looked at the namespace
// already, so that none comes after its contents were deleted.
func (s *Server) markNamespace(base *object, terminating *corev1.Namespace) (*object, error) {
	s.creating.Lock()
	defer s.creating.Unlock()
	return s.namespaces.commit(watch.Modified, base, terminating)
}

// empty ends all objects in a namespace.
func (c *collection) empty(namespace string) error {
	objects, _, _ := c.snapshot()
	for _, o := range objects {
		if o.namespace != namespace {
			continue
		}
		if err := c.endKey(o); err != nil {
			return err
		}
	}
	return nil
}

// settleNamespace removes a terminating namespace when nothing is left in it. The
// empty name, of objects in no namespace, is of none.
func (s *Server) settleNamespace(name string) error {
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
func (s *Server) vacated(namespace string) bool {
	for c := range s.everyCollection() {
		if !c.res.clusterScoped && c.holdsIn(namespace) {
			return false
		}
	}
	return true
}

func (c *collection) holdsIn(namespace string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, o := range c.objects {
		if o.namespace == namespace {
			return true
		}
	}
	return false
}
