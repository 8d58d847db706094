package kubeapi

import (
	"errors"
	"fmt"
	"net/http"
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
type Writer struct{ s *Server }

// Writer returns a writer to s. It may be used by many at once, also after Close.
func (s *Server) Writer() Writer { return Writer{s} }

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
	r, err := w.request(change.Object)
	if err != nil {
		return 0, err
	}
	if !r.res.has(subresource) {
		return 0, fmt.Errorf("%s have no %s", r.res.name, subresource)
	}
	r.subresource = subresource
	return w.make(r, change)
}

// make makes one change, and again if another writer was first.
func (w Writer) make(r *request, change Change) (uint64, error) {
	for attempt := 1; ; attempt++ {
		rv, err := w.try(r, change)
		if !moved(err) {
			return rv, err
		}
		if attempt == updateAttempts {
			return 0, apierrors.NewConflict(r.res.groupResource(), r.name, errModified)
		}
	}
}

func (w Writer) try(r *request, change Change) (uint64, error) {
	if change.Kind == watch.Added {
		w.s.creating.RLock()
		defer w.s.creating.RUnlock()
	}
	t, err := w.decide(r, change)
	if err != nil {
		return 0, err
	}
	if t.kind == "" {
		return t.base.rv, nil
	}
	o, err := r.objects.commitOne(t)
	if err != nil {
		return 0, err
	}
	return o.rv, w.settle(t)
}

// decide works out what a change does to what there is now.
func (w Writer) decide(r *request, change Change) (transition, error) {
	switch change.Kind {
	case watch.Added:
		return w.decideNew(r, r.res.stored(r.res.copyOf(change.Object)))
	case watch.Modified, watch.Deleted:
	default:
		return transition{}, fmt.Errorf("a change is %s, %s or %s, not %q", watch.Added, watch.Modified, watch.Deleted, change.Kind)
	}
	base := r.objects.get(r.key())
	if base == nil {
		return transition{}, r.notFound()
	}
	if change.Kind == watch.Deleted {
		return w.decideEnd(r, base)
	}
	old, err := base.skim()
	if err != nil {
		return transition{}, err
	}
	next := r.res.stored(r.res.copyOf(change.Object))
	metadataOf(next).ManagedFields = metadataOf(old).ManagedFields // a Writer owns nothing
	t, err := w.s.revise(r, base, old, next)
	if err == nil && t.kind != "" && base.deleting && w.s.mayGo(base, t.next) {
		t.kind = watch.Deleted
	}
	return t, err
}

func (w Writer) decideNew(r *request, obj runtime.Object) (transition, error) {
	m, s := metadataOf(obj), w.s
	if err := placeIn(m, r); err != nil {
		return transition{}, err
	}
	m.ResourceVersion, m.ManagedFields = "", nil
	s.prepareNew(r.objects.res, obj)
	if err := invalid(r.res, m.Name, s.validateNew(r.objects.res, obj)); err != nil {
		return transition{}, err
	}
	if err := s.admitsNew(r.res, m); err != nil {
		return transition{}, err
	}
	if r.objects.get(r.key()) != nil {
		return transition{}, apierrors.NewAlreadyExists(r.res.groupResource(), m.Name)
	}
	release, err := s.claimClusterIP(r, obj)
	if err != nil {
		return transition{}, err
	}
	release() // the claim stays, if the service is stored
	return r.objects.prepare(watch.Added, nil, obj)
}

// decideEnd leaves the end of a namespace or definition, which is long, to the server; nothing is left to do then.
func (w Writer) decideEnd(r *request, base *object) (transition, error) {
	if r.objects != w.s.namespaces && r.objects != w.s.definitions {
		return r.objects.prepareEnd(base, nil)
	}
	o, err := w.s.end(r.objects, base, &metav1.DeleteOptions{})
	return transition{base: o, sealed: o}, err
}

// settle follows up what was committed.
func (w Writer) settle(t transition) error {
	if t.kind != watch.Deleted {
		return nil
	}
	return w.s.settleNamespace(t.base.namespace)
}

// inProcess stands for the HTTP request that there is none of.
var inProcess = &http.Request{Header: http.Header{}}

func (w Writer) request(obj runtime.Object) (*request, error) {
	res := rows()[reflect.TypeOf(obj)]
	if res == nil {
		return nil, fmt.Errorf("the simulated API server has no resource for a %T", obj)
	}
	m := accessor(obj)
	if m.GetName() == "" {
		return nil, errors.New("an object must have a name to be written")
	}
	r := &request{Request: inProcess, res: res, objects: w.s.collections[res.base()], name: m.GetName()}
	if !res.clusterScoped {
		r.namespace = m.GetNamespace()
	}
	return r, nil
}

// rows finds the row of a Go type.
var rows = sync.OnceValue(func() map[reflect.Type]*resource {
	byType := map[reflect.Type]*resource{}
	for _, res := range resources {
		byType[reflect.TypeOf(res.empty())] = res
	}
	return byType
})
