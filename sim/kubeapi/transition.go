package kubeapi

import (
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// transition is a change of one object that is decided and encoded but not
// committed. What is costly in a write happens before the lock.
type transition struct {
	kind   watch.EventType
	base   *object        // the state it was made from; nil: there must be none
	next   runtime.Object // the state after it; for a deletion the last one; nil if nobody has decoded it
	sealed *object        // next, under a version that commit replaces
}

// prepare encodes next. Its version is a guess at the one to come, whose length is
// nearly always right, so that commit only has to overwrite it.
func (c *collection) prepare(kind watch.EventType, base *object, next runtime.Object) (transition, error) {
	sealed, err := c.res.seal(next, c.revision.Load()+1)
	return transition{kind, base, next, sealed}, err
}

// gone is the end of base, in its last state.
func gone(base *object) transition { return transition{watch.Deleted, base, nil, base.clone()} }

// commit replaces base by next and appends the event. It fails with errMoved if
// base is no longer current.
func (c *collection) commit(kind watch.EventType, base *object, next runtime.Object) (*object, error) {
	t, err := c.prepare(kind, base, next)
	if err != nil {
		return nil, err
	}
	return c.commitOne(t)
}

func (c *collection) commitOne(t transition) (*object, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.apply(t)
}

// locked calls f with a commitOne that takes the lock once for all its calls.
func (c *collection) locked(f func(commit func(transition) (*object, error))) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f(c.apply)
}

// apply is commitOne for who holds mu.
func (c *collection) apply(t transition) (*object, error) {
	if c.ended {
		return nil, apierrors.NewNotFound(c.res.groupResource(), t.sealed.name)
	}
	if c.objects[t.sealed.key] != t.base {
		return nil, errMoved
	}
	rv := c.revision.Add(1)
	if err := t.number(rv); err != nil {
		return nil, err
	}
	o := t.sealed
	o.share(t.base)
	if t.kind == watch.Deleted {
		delete(c.objects, o.key)
	} else {
		c.objects[o.key] = o
	}
	c.cold.Store(c.history.append(event{rv: rv, kind: t.kind, object: o, prev: t.base}))
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
func (t *transition) number(rv uint64) (err error) {
	version := formatRV(rv)
	if putRV(t.sealed.raw, version) {
		t.sealed.rv = rv
		if t.next != nil {
			accessor(t.next).SetResourceVersion(version)
		}
		return nil
	}
	if t.next == nil {
		if t.next, err = t.sealed.decode(); err != nil {
			return err
		}
	}
	t.sealed, err = t.sealed.res.seal(t.next, rv)
	return err
}
