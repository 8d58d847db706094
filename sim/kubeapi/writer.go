package kubeapi

import (
	"errors"
	"fmt"
	"reflect"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// Writer changes objects from within the process, for who makes more changes
// than HTTP carries. The rules are those of requests: defaults, validation, versions,
// conflicts, no event for what changes nothing. It neither keeps nor changes
// the objects it is given.
type Writer struct{ s *clusterState }

// Writer returns a writer to s. It may be used by many at once, also after Close.
func (s *Server) Writer() Writer { return Writer{s.state} }

// Change is a creation (watch.Added), update (Modified) or deletion (Deleted) of
// one object, which must have its name; of a deletion nothing else is read.
type Change struct {
	Kind   watch.EventType
	Object runtime.Object
}

// Create, Update and Delete return the version at which their object is then.
// Update leaves the status as it is where that is a subresource.
func (w Writer) Create(obj runtime.Object) (rv uint64, err error) {
	return w.one(Change{watch.Added, obj}, "")
}

func (w Writer) Update(obj runtime.Object) (rv uint64, err error) {
	return w.one(Change{watch.Modified, obj}, "")
}

// UpdateStatus changes the status, and nothing else but labels, annotations and finalizers.
func (w Writer) UpdateStatus(obj runtime.Object) (rv uint64, err error) {
	return w.one(Change{watch.Modified, obj}, "status")
}

func (w Writer) Delete(obj runtime.Object) (rv uint64, err error) {
	return w.one(Change{watch.Deleted, obj}, "")
}

func (w Writer) one(change Change, subresource string) (uint64, error) {
	op, err := w.operation(change.Object)
	if err != nil {
		return 0, err
	}
	if !op.res.has(subresource) {
		return 0, fmt.Errorf("%s have no %s", op.res.name, subresource)
	}
	op.subresource = subresource
	return w.make(op, change)
}

// make makes one change, and again if another writer was first.
func (w Writer) make(op *operation, change Change) (uint64, error) {
	for attempt := 1; ; attempt++ {
		rv, err := w.try(op, change)
		if !moved(err) {
			return rv, err
		}
		if attempt == updateAttempts {
			return 0, apierrors.NewConflict(op.res.groupResource(), op.name, errModified)
		}
	}
}

func (w Writer) try(op *operation, change Change) (uint64, error) {
	if change.Kind == watch.Added {
		w.s.creating.RLock()
		defer w.s.creating.RUnlock()
	}
	t, err := w.decide(op, change)
	if err != nil {
		return 0, err
	}
	if t.kind == "" {
		return t.base.rv, nil
	}
	o, err := op.objects.commitOne(t)
	if err != nil {
		return 0, err
	}
	return o.rv, w.settle(t)
}

// decide works out what a change does to what there is now.
func (w Writer) decide(op *operation, change Change) (transition, error) {
	switch change.Kind {
	case watch.Added:
		return w.decideNew(op, op.res.stored(op.res.copyOf(change.Object)))
	case watch.Modified, watch.Deleted:
	default:
		return transition{}, fmt.Errorf("a change is %s, %s or %s, not %q", watch.Added, watch.Modified, watch.Deleted, change.Kind)
	}
	base := op.objects.get(op.key())
	if base == nil {
		return transition{}, op.notFound()
	}
	if change.Kind == watch.Deleted {
		return w.decideEnd(op, base)
	}
	old, err := base.skim()
	if err != nil {
		return transition{}, err
	}
	next := op.res.stored(op.res.copyOf(change.Object))
	metadataOf(next).ManagedFields = metadataOf(old).ManagedFields // a Writer owns nothing
	t, err := w.s.revise(op, base, old, next)
	if err == nil && t.kind != "" && base.deleting && w.s.mayGo(base, t.next) {
		t.kind = watch.Deleted
	}
	return t, err
}

func (w Writer) decideNew(op *operation, obj runtime.Object) (transition, error) {
	m, s := metadataOf(obj), w.s
	if err := placeIn(m, op); err != nil {
		return transition{}, err
	}
	m.ResourceVersion, m.ManagedFields = "", nil
	s.prepareNew(op.objects.res, obj)
	if err := op.res.invalid(m.Name, s.validateNew(op.objects.res, obj)); err != nil {
		return transition{}, err
	}
	if err := s.admitsNew(op.res, m); err != nil {
		return transition{}, err
	}
	if op.objects.get(op.key()) != nil {
		return transition{}, apierrors.NewAlreadyExists(op.res.groupResource(), m.Name)
	}
	release, err := s.claimClusterIP(op, obj)
	if err != nil {
		return transition{}, err
	}
	release() // the claim stays, if the service is stored
	return op.objects.prepare(watch.Added, nil, obj)
}

// decideEnd leaves the end of a namespace or definition, which is long, to the server; nothing is left to do then.
func (w Writer) decideEnd(op *operation, base *object) (transition, error) {
	if op.objects != w.s.namespaces && op.objects != w.s.definitions {
		return w.s.prepareEnd(op.objects, base, nil)
	}
	o, err := w.s.end(op.objects, base, &metav1.DeleteOptions{})
	return transition{base: o, sealed: o}, err
}

// settle follows up what was committed.
func (w Writer) settle(t transition) error {
	if t.kind != watch.Deleted {
		return nil
	}
	return w.s.settleNamespace(t.base.namespace)
}

func (w Writer) operation(obj runtime.Object) (*operation, error) {
	res := rows()[reflect.TypeOf(obj)]
	if res == nil {
		return nil, fmt.Errorf("the simulated API server has no resource for a %T", obj)
	}
	m := accessor(obj)
	if m.GetName() == "" {
		return nil, errors.New("an object must have a name to be written")
	}
	op := &operation{res: res, objects: w.s.collections[res.base()], name: m.GetName()}
	if !res.clusterScoped {
		op.namespace = m.GetNamespace()
	}
	return op, nil
}

// rows finds the row of a Go type.
var rows = sync.OnceValue(func() map[reflect.Type]*resource {
	byType := map[reflect.Type]*resource{}
	for _, res := range resources {
		byType[reflect.TypeOf(res.empty())] = res
	}
	return byType
})
