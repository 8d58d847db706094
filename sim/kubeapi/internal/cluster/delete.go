package cluster

import (
	stderrors "errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// Delete deletes the object that op names. The object is gone at once, unless finalizers hold it or
// it is a pod that a kubelet has to end first. It returns the last state; held reports whether
// something still holds the object.
func (s *State) Delete(op *Operation, opts *metav1.DeleteOptions) (o *store.Object, held bool, err error) {
	if err := op.mayDelete(); err != nil {
		return nil, false, err
	}
	o, held, err = s.DeleteKey(op, op.Key(), opts)
	if err == nil && o == nil {
		err = op.NotFound()
	}
	return o, held, err
}

// mayDelete refuses to delete the namespaces that kube-apiserver protects (admission
// plugin NamespaceLifecycle). The other namespaces of a new cluster, such as
// kube-node-lease, can be deleted.
func (op *Operation) mayDelete() error {
	if op.Objects.Resource.GroupResource() != (schema.GroupResource{Resource: "namespaces"}) {
		return nil
	}
	switch op.Name {
	case metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic:
		return errors.NewForbidden(op.Resource.GroupResource(), op.Name, stderrors.New("this namespace may not be deleted"))
	}
	return nil
}

// DeleteKey deletes the object under key and returns its last state, or nil if it does not exist.
// held reports whether something still holds it.
func (s *State) DeleteKey(op *Operation, key string, opts *metav1.DeleteOptions) (o *store.Object, held bool, err error) {
	for {
		base := op.Objects.Get(key)
		if base == nil {
			return nil, false, nil
		}
		if err := checkPreconditions(op, base, opts.Preconditions); err != nil {
			return nil, false, err
		}
		if err := s.webhooks.Admit(op.admissionRequest(), nil, base, len(opts.DryRun) > 0); err != nil {
			return nil, false, err
		}
		if s.hasContents(op.Objects) {
			o, held, err = s.deleteWithContents(op.Objects, base, len(opts.DryRun) > 0)
		} else {
			o, held, err = s.deleteOrMark(op.Objects, base, opts)
		}
		if !store.IsConflict(err) {
			return o, held, err
		}
	}
}

// hasContents reports whether the objects of c are deleted with their contents: namespaces and
// definitions.
func (s *State) hasContents(c *store.Collection) bool { return c == s.namespaces || c == s.definitions }

// deleteWithContents deletes a namespace or a definition with its contents.
func (s *State) deleteWithContents(c *store.Collection, base *store.Object, dryRun bool) (o *store.Object, held bool, err error) {
	if dryRun {
		return base, false, nil
	}
	o, err = s.deleteAny(c, base, &metav1.DeleteOptions{})
	return o, c.Get(base.Key) != nil, err
}

// deleteOrMark deletes base, or marks it as deleted if something holds it.
func (s *State) deleteOrMark(c *store.Collection, base *store.Object, opts *metav1.DeleteOptions) (o *store.Object, held bool, err error) {
	last, err := base.Decode()
	if err != nil {
		return nil, false, err
	}
	if !c.Resource.NoDependents {
		setPropagation(object.Meta(last), opts)
	}
	t, err := s.prepareDeleteDecoded(c, base, last, opts.GracePeriodSeconds)
	held = t.Kind != watch.Deleted
	switch dryRun := len(opts.DryRun) > 0; {
	case err != nil:
		return nil, held, err
	case dryRun && !held && c.Resource.Terminates:
		markDeleted(object.Meta(last), 0)
		o, err = store.Encode(c.Resource, last, base.Version)
		return o, held, err
	case t.Kind == "" || dryRun && !held:
		return base, held, nil
	case dryRun:
		return t.Encoded, held, nil
	}
	if !held && c.Resource.Terminates {
		if t, err = terminate(c, base, last); err != nil {
			return nil, held, err
		}
		o, err = removeMarked(c, t)
	} else {
		o, err = c.Commit(t)
	}
	if err == nil && !held {
		err = s.finishWaitingDeletions(c, base.Namespace)
	}
	return o, held, err
}

// removeMarked commits the transition that terminate returned. A kubelet that sees the mark may
// remove the object first; this is not an error (kube-apiserver, Store.Delete).
func removeMarked(c *store.Collection, t store.Transition) (*store.Object, error) {
	o, err := c.Commit(t)
	if now := c.Get(t.Base.Key); store.IsConflict(err) && (now == nil || now.UID != t.Base.UID) {
		return t.Base, nil
	}
	return o, err
}

func checkPreconditions(op *Operation, base *store.Object, must *metav1.Preconditions) error {
	if must == nil {
		return nil
	}
	kind := schema.GroupResource{Group: op.Resource.Group, Resource: op.Resource.Kind} // the kind instead of the resource, as in kube-apiserver's message
	if must.UID != nil && *must.UID != base.UID {
		return errors.NewConflict(kind, base.Name, fmt.Errorf(
			"the UID in the precondition (%s) does not match the UID in record (%s). The object might have been deleted and then recreated", *must.UID, base.UID))
	}
	if must.ResourceVersion != nil && *must.ResourceVersion != object.FormatVersion(base.Version) {
		return errors.NewConflict(kind, base.Name, fmt.Errorf(
			"the ResourceVersion in the precondition (%s) does not match the ResourceVersion in record (%s). The object might have been modified", *must.ResourceVersion, object.FormatVersion(base.Version)))
	}
	return nil
}

// deleteAny deletes base with its contents, or marks it as deleted if something holds it.
func (s *State) deleteAny(c *store.Collection, base *store.Object, opts *metav1.DeleteOptions) (*store.Object, error) {
	switch c {
	case s.namespaces:
		return s.deleteNamespace(base)
	case s.definitions:
		return s.deleteDefinition(base)
	}
	o, err := s.deleteWithoutContents(c, base, opts)
	if err == nil {
		err = s.finishWaitingDeletions(c, base.Namespace)
	}
	return o, err
}

// deleteWithoutContents is like deleteAny, for an object without contents. It does not finish
// waiting deletions.
func (s *State) deleteWithoutContents(c *store.Collection, base *store.Object, opts *metav1.DeleteOptions) (*store.Object, error) {
	t, err := s.prepareDelete(c, base, opts.GracePeriodSeconds)
	if err != nil || t.Kind == "" {
		return base, err
	}
	return c.Commit(t)
}

// remove removes base from the store.
func (s *State) remove(c *store.Collection, base *store.Object) (*store.Object, error) {
	o, err := c.Commit(store.Removal(base))
	if err == nil {
		err = s.finishWaitingDeletions(c, base.Namespace)
	}
	return o, err
}

// graceful reports whether a deleted object of c gets a grace period: a pod does if there is a
// kubelet.
func (s *State) graceful(c *store.Collection) bool { return s.kubelet && c == s.pods }

// prepareDelete returns the transition that deletes base or, if base has finalizers or gets a grace
// period, marks it as deleted. asked is the grace period in seconds that the client asks for, nil
// for the default.
func (s *State) prepareDelete(c *store.Collection, base *store.Object, asked *int64) (store.Transition, error) {
	if !base.HasFinalizers() && !s.graceful(c) {
		return store.Removal(base), nil
	}
	last, err := base.Decode()
	if err != nil {
		return store.Transition{}, err
	}
	return s.prepareDeleteDecoded(c, base, last, asked)
}

// prepareDeleteDecoded is like prepareDelete, for a base that is already decoded as last. The
// finalizers of last may have changed since. If nothing changes it returns a transition without a
// kind.
func (s *State) prepareDeleteDecoded(c *store.Collection, base *store.Object, last runtime.Object, asked *int64) (store.Transition, error) {
	m, grace := object.Meta(last), int64(0)
	if s.graceful(c) {
		grace = graceOf(last.(*corev1.Pod), asked)
	}
	switch {
	case grace == 0 && len(m.Finalizers) == 0:
		return c.Prepare(watch.Deleted, base, last)
	case !base.Deleting || grace < *m.DeletionGracePeriodSeconds:
		markDeleted(m, grace)
	}
	encoded, err := store.Encode(c.Resource, last, base.Version)
	if err == nil && encoded.SameBytes(base) {
		return store.Transition{Base: base, Encoded: base}, nil
	}
	return store.Transition{Kind: watch.Modified, Base: base, Next: last, Encoded: encoded}, err
}
