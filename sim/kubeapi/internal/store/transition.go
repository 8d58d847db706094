package store

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"windtunnel.dev/sim/kubeapi/internal/object"
)

// Transition is a change of one object that is decided and encoded but not committed, so that the
// expensive part of a write needs no lock.
type Transition struct {
	Kind    watch.EventType
	Base    *Object        // the state that the change starts from; nil for a creation
	Next    runtime.Object // the state after the change, or the last one for a deletion; nil if it is only encoded
	Encoded *Object        // next, under a version that commit replaces
}

// Prepare encodes next. It guesses the next version, whose length is nearly always right, so that
// the commit only has to overwrite the version.
func (c *Collection) Prepare(kind watch.EventType, base *Object, next runtime.Object) (Transition, error) {
	encoded, err := Encode(c.Resource, next, c.revision.Load()+1)
	return Transition{kind, base, next, encoded}, err
}

// Removal returns the transition that removes base and leaves its state unchanged.
func Removal(base *Object) Transition { return Transition{watch.Deleted, base, nil, base.clone()} }

// Write prepares and commits a change from base to next. It returns ErrConflict if base is no
// longer current.
func (c *Collection) Write(kind watch.EventType, base *Object, next runtime.Object) (*Object, error) {
	t, err := c.Prepare(kind, base, next)
	if err != nil {
		return nil, err
	}
	return c.Commit(t)
}

// Commit commits t and appends its event. It returns ErrConflict if the base is no longer current.
func (c *Collection) Commit(t Transition) (*Object, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.apply(t)
}

// CommitMany calls f with a Commit that does not lock, and holds the lock while f runs.
func (c *Collection) CommitMany(f func(commit func(Transition) (*Object, error))) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(c.apply)
}

// apply is Commit for a caller who holds mu.
func (c *Collection) apply(t Transition) (*Object, error) {
	if c.ended {
		return nil, apierrors.NewNotFound(c.Resource.GroupResource(), t.Encoded.Name)
	}
	if c.objects[t.Encoded.Key] != t.Base {
		return nil, ErrConflict
	}
	rv := c.revision.Add(1)
	if err := t.number(rv); err != nil {
		return nil, err
	}
	o := t.Encoded
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

// number sets the version of t, which is about to be committed, to rv.
func (t *Transition) number(rv uint64) (err error) {
	version := object.FormatVersion(rv)
	if object.OverwriteVersion(t.Encoded.Raw, version) {
		t.Encoded.Version = rv
		if t.Next != nil {
			object.Accessor(t.Next).SetResourceVersion(version)
		}
		return nil
	}
	if t.Next == nil {
		if t.Next, err = t.Encoded.Decode(); err != nil {
			return err
		}
	}
	t.Encoded, err = Encode(t.Encoded.Resource, t.Next, rv)
	return err
}
