package store

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/internal/object"
)

// Transition is a change of one object that is decided and encoded but not
// committed. What is costly in a write happens before the lock.
type Transition struct {
	Kind   watch.EventType
	Base   *Object        // the state it was made from; nil: there must be none
	Next   runtime.Object // the state after it; for a deletion the last one; nil if nobody has decoded it
	Sealed *Object        // next, under a version that commit replaces
}

// Prepare encodes next. Its version is a guess at the one to come, whose length is
// nearly always right, so that commit only has to overwrite it.
func (c *Collection) Prepare(kind watch.EventType, base *Object, next runtime.Object) (Transition, error) {
	sealed, err := Seal(c.Resource, next, c.revision.Load()+1)
	return Transition{kind, base, next, sealed}, err
}

// Removal is the end of base, in its last state.
func Removal(base *Object) Transition { return Transition{watch.Deleted, base, nil, base.clone()} }

// Write replaces base by next and appends the event. It fails with errMoved if
// base is no longer current.
func (c *Collection) Write(kind watch.EventType, base *Object, next runtime.Object) (*Object, error) {
	t, err := c.Prepare(kind, base, next)
	if err != nil {
		return nil, err
	}
	return c.Commit(t)
}

func (c *Collection) Commit(t Transition) (*Object, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.apply(t)
}

// CommitMany calls f with a commitOne that takes the lock once for all its calls.
func (c *Collection) CommitMany(f func(commit func(Transition) (*Object, error))) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(c.apply)
}

// apply is commitOne for who holds mu.
func (c *Collection) apply(t Transition) (*Object, error) {
	if c.ended {
		return nil, apierrors.NewNotFound(c.Resource.GroupResource(), t.Sealed.Name)
	}
	if c.objects[t.Sealed.Key] != t.Base {
		return nil, ErrMoved
	}
	rv := c.revision.Add(1)
	if err := t.number(rv); err != nil {
		return nil, err
	}
	o := t.Sealed
	o.share(t.Base)
	if t.Kind == watch.Deleted {
		delete(c.objects, o.Key)
	} else {
		c.objects[o.Key] = o
	}
	c.cold.Store(c.history.append(Event{Version: rv, Kind: t.Kind, Object: o, prev: t.Base}))
	if paged := c.paged.Load(); paged != nil && paged.rv < c.history.floor {
		c.paged.Store(nil)
	}
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
	return o, nil
}

// number gives what is about to be committed its version.
func (t *Transition) number(rv uint64) (err error) {
	version := object.FormatVersion(rv)
	if object.OverwriteVersion(t.Sealed.Raw, version) {
		t.Sealed.Version = rv
		if t.Next != nil {
			object.Accessor(t.Next).SetResourceVersion(version)
		}
		return nil
	}
	if t.Next == nil {
		if t.Next, err = t.Sealed.Decode(); err != nil {
			return err
		}
	}
	t.Sealed, err = Seal(t.Sealed.Resource, t.Next, rv)
	return err
}
