package kubeapi

import (
	stderrors "errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// delete ends the object that op names, at once unless finalizers hold it or it is a pod that
// a kubelet has to end first. It returns the last state; held says whether something still
// holds the object.
func (s *clusterState) delete(op *operation, opts *metav1.DeleteOptions) (o *object, held bool, err error) {
	if err := op.mayDelete(); err != nil {
		return nil, false, err
	}
	o, held, err = s.deleteKey(op, op.key(), opts)
	if err == nil && o == nil {
		err = op.notFound()
	}
	return o, held, err
}

// mayDelete refuses to delete the namespaces that kube-apiserver protects (admission
// plugin NamespaceLifecycle). The other namespaces of a new cluster, such as
// kube-node-lease, can be deleted.
func (op *operation) mayDelete() error {
	if op.objects.res.groupResource() != (schema.GroupResource{Resource: "namespaces"}) {
		return nil
	}
	switch op.name {
	case metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic:
		return errors.NewForbidden(op.res.groupResource(), op.name, stderrors.New("this namespace may not be deleted"))
	}
	return nil
}

// deleteKey deletes the object under key and returns its last state, nil if there
// is none; held says whether finalizers still hold it.
func (s *clusterState) deleteKey(op *operation, key string, opts *metav1.DeleteOptions) (o *object, held bool, err error) {
	for {
		base := op.objects.get(key)
		if base == nil {
			return nil, false, nil
		}
		if err := checkPreconditions(op, base, opts.Preconditions); err != nil {
			return nil, false, err
		}
		if err := s.webhooks.admit(op.question(), nil, base, len(opts.DryRun) > 0); err != nil {
			return nil, false, err
		}
		switch op.objects {
		case s.namespaces, s.definitions:
			o, held, err = s.unfold(op.objects, base, len(opts.DryRun) > 0)
		default:
			o, held, err = s.finish(op.objects, base, opts)
		}
		if !moved(err) {
			return o, held, err
		}
	}
}

// unfold deletes a namespace or a definition with what is in it.
func (s *clusterState) unfold(c *collection, base *object, dryRun bool) (o *object, held bool, err error) {
	if dryRun {
		return base, false, nil
	}
	o, err = s.end(c, base, &metav1.DeleteOptions{})
	return o, c.get(base.key) != nil, err
}

// finish deletes base, or marks it to be deleted when nothing holds it any more.
func (s *clusterState) finish(c *collection, base *object, opts *metav1.DeleteOptions) (o *object, held bool, err error) {
	last, err := base.decode()
	if err != nil {
		return nil, false, err
	}
	if !c.res.noDependents {
		setPropagation(metadataOf(last), opts)
	}
	t, err := s.prepareEndOf(c, base, last, opts.GracePeriodSeconds)
	held = t.kind != watch.Deleted
	switch dryRun := len(opts.DryRun) > 0; {
	case err != nil:
		return nil, held, err
	case dryRun && !held && c.res.terminates:
		markDeleted(metadataOf(last), 0)
		o, err = c.res.seal(last, base.rv)
		return o, held, err
	case t.kind == "" || dryRun && !held:
		return base, held, nil
	case dryRun:
		return t.sealed, held, nil
	}
	if !held && c.res.terminates {
		if t, err = terminate(c, base, last); err != nil {
			return nil, held, err
		}
		o, err = removeMarked(c, t)
	} else {
		o, err = c.commitOne(t)
	}
	if err == nil && !held {
		err = s.settle(c, base.namespace)
	}
	return o, held, err
}

// removeMarked commits what terminate returned. A kubelet that sees the mark may remove
// the object first, which is no error (kube-apiserver, Store.Delete).
func removeMarked(c *collection, t transition) (*object, error) {
	o, err := c.commitOne(t)
	if now := c.get(t.base.key); moved(err) && (now == nil || now.uid != t.base.uid) {
		return t.base, nil
	}
	return o, err
}

func checkPreconditions(op *operation, base *object, must *metav1.Preconditions) error {
	if must == nil {
		return nil
	}
	kind := schema.GroupResource{Group: op.res.group, Resource: op.res.kind} // not the resource, as kube-apiserver words it
	if must.UID != nil && *must.UID != base.uid {
		return errors.NewConflict(kind, base.name, fmt.Errorf(
			"the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *must.UID, base.uid))
	}
	if must.ResourceVersion != nil && *must.ResourceVersion != formatRV(base.rv) {
		return errors.NewConflict(kind, base.name, fmt.Errorf(
			"the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *must.ResourceVersion, formatRV(base.rv)))
	}
	return nil
}

// end deletes base, or marks it to be deleted when nothing holds it any more.
func (s *clusterState) end(c *collection, base *object, opts *metav1.DeleteOptions) (*object, error) {
	switch c {
	case s.namespaces:
		return s.endNamespace(base)
	case s.definitions:
		return s.endDefinition(base)
	}
	o, err := s.endOne(c, base, opts)
	if err == nil {
		err = s.settle(c, base.namespace)
	}
	return o, err
}

// endOne is end for an object whose end nothing waits for.
func (s *clusterState) endOne(c *collection, base *object, opts *metav1.DeleteOptions) (*object, error) {
	t, err := s.prepareEnd(c, base, opts.GracePeriodSeconds)
	if err != nil || t.kind == "" {
		return base, err
	}
	return c.commitOne(t)
}

// remove takes base out of the store.
func (s *clusterState) remove(c *collection, base *object) (*object, error) {
	o, err := c.commitOne(gone(base))
	if err == nil {
		err = s.settle(c, base.namespace)
	}
	return o, err
}

// graceful reports whether a deleted object of c gets time to end: a kubelet ends pods.
func (s *clusterState) graceful(c *collection) bool { return s.kubelet && c == s.pods }

// prepareEnd deletes base or, if finalizers hold it or it gets time to end, marks
// it to be deleted. asked is how many seconds the client gives it, nil for the default.
func (s *clusterState) prepareEnd(c *collection, base *object, asked *int64) (transition, error) {
	if !base.hasFinalizers() && !s.graceful(c) {
		return gone(base), nil
	}
	last, err := base.decode()
	if err != nil {
		return transition{}, err
	}
	return s.prepareEndOf(c, base, last, asked)
}

// prepareEndOf is prepareEnd of base whose last state was decoded, and perhaps given
// other finalizers. It leaves everything as it is, with a transition of no kind, when
// nothing changes.
func (s *clusterState) prepareEndOf(c *collection, base *object, last runtime.Object, asked *int64) (transition, error) {
	m, grace := metadataOf(last), int64(0)
	if s.graceful(c) {
		grace = graceOf(last.(*corev1.Pod), asked)
	}
	switch {
	case grace == 0 && len(m.Finalizers) == 0:
		return c.prepare(watch.Deleted, base, last)
	case !base.deleting || grace < *m.DeletionGracePeriodSeconds:
		markDeleted(m, grace)
	}
	sealed, err := c.res.seal(last, base.rv)
	if err == nil && sealed.sameBytes(base) {
		return transition{base: base, sealed: base}, nil
	}
	return transition{watch.Modified, base, last, sealed}, err
}
