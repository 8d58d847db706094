package cluster

import (
	"errors"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/internal/kinds"
	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// Writer changes objects from within the process, for callers with more changes than HTTP can
// carry. The rules are those of requests: defaults, validation, versions, conflicts, and no event
// for a change that changes nothing. Admission plugins, webhooks and quotas do not apply; the status of
// quotas follows soon after. It neither keeps nor changes the objects that it gets.
type Writer struct{ s *State }

// Writer returns a writer to s. It is safe for concurrent use.
func (s *State) Writer() Writer { return Writer{s} }

// Change is a creation (watch.Added), update (Modified) or deletion (Deleted) of one object, which
// must have its name. A deletion reads nothing else from the object.
type Change struct {
	Kind   watch.EventType
	Object runtime.Object
}

// Create, Update and Delete return the version of the object after the change. Update keeps the
// status of a kind whose status is a subresource.
func (w Writer) Create(obj runtime.Object) (rv uint64, err error) {
	return w.write(Change{watch.Added, obj}, "")
}

func (w Writer) Update(obj runtime.Object) (rv uint64, err error) {
	return w.write(Change{watch.Modified, obj}, "")
}

// UpdateStatus changes only the status, labels, annotations and finalizers.
func (w Writer) UpdateStatus(obj runtime.Object) (rv uint64, err error) {
	return w.write(Change{watch.Modified, obj}, "status")
}

func (w Writer) Delete(obj runtime.Object) (rv uint64, err error) {
	return w.write(Change{watch.Deleted, obj}, "")
}

func (w Writer) write(change Change, subresource string) (uint64, error) {
	op, err := w.operation(change.Object)
	if err != nil {
		return 0, err
	}
	if !op.Resource.Has(subresource) {
		return 0, fmt.Errorf("%s have no %s", op.Resource.Name, subresource)
	}
	op.Subresource = subresource
	return w.writeRetrying(op, change)
}

// writeRetrying applies one change, and tries again if another writer changed the object first.
func (w Writer) writeRetrying(op *Operation, change Change) (uint64, error) {
	for attempt := 1; ; attempt++ {
		rv, err := w.tryWrite(op, change)
		if !store.IsConflict(err) {
			return rv, err
		}
		if attempt == updateAttempts {
			return 0, apierrors.NewConflict(op.Resource.GroupResource(), op.Name, errModified)
		}
	}
}

func (w Writer) tryWrite(op *Operation, change Change) (uint64, error) {
	if change.Kind == watch.Added {
		w.s.creating.RLock()
		defer w.s.creating.RUnlock()
	}
	defer op.release()
	t, err := w.transition(op, change)
	if err != nil {
		return 0, err
	}
	if t.Kind == "" {
		return t.Base.Version, nil
	}
	o, err := op.Objects.Commit(t)
	if err != nil {
		return 0, err
	}
	return o.Version, w.finish(op, t)
}

// transition returns the transition that a change causes in the current state. The caller releases op
// after the commit.
func (w Writer) transition(op *Operation, change Change) (store.Transition, error) {
	switch change.Kind {
	case watch.Added:
		return w.creation(op, op.Resource.ToStored(op.Resource.CopyOf(change.Object)))
	case watch.Modified, watch.Deleted:
	default:
		return store.Transition{}, fmt.Errorf("a change is %s, %s or %s, not %q", watch.Added, watch.Modified, watch.Deleted, change.Kind)
	}
	base := op.Objects.Get(op.Key())
	if base == nil {
		return store.Transition{}, op.NotFound()
	}
	if change.Kind == watch.Deleted {
		return w.deletion(op, base)
	}
	old, err := base.DecodeWithoutLargeField()
	if err != nil {
		return store.Transition{}, err
	}
	next := op.Resource.ToStored(op.Resource.CopyOf(change.Object))
	object.Meta(next).ManagedFields = object.Meta(old).ManagedFields // a Writer does not become an owner
	t, err := w.s.revise(op, base, old, next)
	if err == nil && t.Kind != "" && base.Deleting && w.s.isRemovable(base, t.Next) {
		t.Kind = watch.Deleted
	}
	if err != nil || t.Kind != watch.Modified {
		return t, err
	}
	return t, w.s.reserve(op, t.Next, old)
}

func (w Writer) creation(op *Operation, obj runtime.Object) (store.Transition, error) {
	m, s := object.Meta(obj), w.s
	if err := SetNamespace(m, op); err != nil {
		return store.Transition{}, err
	}
	m.ResourceVersion, m.ManagedFields = "", nil
	s.prepareNew(op.Objects.Resource, obj)
	s.assign(op, obj, nil)
	if err := op.Resource.Invalid(m.Name, s.validateNew(op.Objects.Resource, obj)); err != nil {
		return store.Transition{}, err
	}
	if err := s.checkNamespace(op.Resource, m); err != nil {
		return store.Transition{}, err
	}
	if op.Objects.Get(op.Key()) != nil {
		return store.Transition{}, apierrors.NewAlreadyExists(op.Resource.GroupResource(), m.Name)
	}
	if err := s.reserve(op, obj, nil); err != nil {
		return store.Transition{}, err
	}
	return op.Objects.Prepare(watch.Added, nil, obj)
}

// deletion returns the transition of a deletion. It deletes a namespace or definition itself,
// because that takes several transitions. The returned transition then has no kind.
func (w Writer) deletion(op *Operation, base *store.Object) (store.Transition, error) {
	if !w.s.hasContents(op.Objects) {
		return w.s.prepareDelete(op.Objects, base, nil)
	}
	o, err := w.s.deleteAny(op.Objects, base, &metav1.DeleteOptions{})
	return store.Transition{Base: o, Encoded: o}, err
}

// finish does what a committed change leads to: the quotas follow it, and a deletion that was waiting
// for it is completed.
func (w Writer) finish(op *Operation, t store.Transition) error {
	w.s.syncQuotasLater(op, t)
	if t.Kind != watch.Deleted {
		return nil
	}
	return w.s.removeNamespaceIfEmpty(t.Base.Namespace)
}

func (w Writer) operation(obj runtime.Object) (*Operation, error) {
	res := kinds.ByType()[reflect.TypeOf(obj)]
	if res == nil {
		return nil, fmt.Errorf("the simulated API server has no resource for a %T", obj)
	}
	m := object.Accessor(obj)
	if m.GetName() == "" {
		return nil, errors.New("an object must have a name to be written")
	}
	op := &Operation{Resource: res, Objects: w.s.collections[res.Base()], Name: m.GetName()}
	if !res.ClusterScoped {
		op.Namespace = m.GetNamespace()
	}
	return op, nil
}
