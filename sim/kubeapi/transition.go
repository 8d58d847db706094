package kubeapi

import (
	"bytes"
	"maps"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// transition is a change of one object that is decided and encoded but not
// committed. What is costly in a write happens before the lock.
type transition struct {
	kind   watch.EventType
	base   *object        // the state it was made from; nil: there must be none
	next   runtime.Object // the state after it; for a deletion the last one
	sealed *object        // next, under a version that commit replaces
}

// prepare encodes next. Its version is a guess at the one to come, whose length is
// nearly always right, so that commit only has to overwrite it.
func (c *collection) prepare(kind watch.EventType, base *object, next runtime.Object) (transition, error) {
	sealed, err := c.res.seal(next, c.revision.Load()+1)
	return transition{kind, base, next, sealed}, err
}

// prepareUpdate is prepare for a new state of base, which was decoded as old: it
// counts the generation, and leaves everything as it is, with a transition of no
// kind, when nothing changes.
func (c *collection) prepareUpdate(base *object, old, next runtime.Object, counted bool) (transition, error) {
	res, is := c.res, metadataOf(next)
	counted = counted && res.generation
	if counted {
		is.Generation++ // most likely
	}
	sealed, err := res.seal(next, base.rv)
	if err != nil {
		return transition{}, err
	}
	if counted && res.sameSpec(sealed.raw, base.raw) && !(res.generationLabels && !maps.Equal(metadataOf(old).Labels, is.Labels)) {
		is.Generation--
		if sealed, err = res.seal(next, base.rv); err != nil {
			return transition{}, err
		}
	}
	if bytes.Equal(sealed.raw, base.raw) {
		return transition{base: base, next: next, sealed: base}, nil
	}
	return transition{watch.Modified, base, next, sealed}, nil
}

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

// apply is for who holds mu. It tells nobody: unlock does.
func (c *collection) apply(t transition) (*object, error) {
	o := t.sealed
	if c.objects[o.key] != t.base {
		return nil, errMoved
	}
	rv := c.revision.Add(1)
	if version := formatRV(rv); putRV(o.raw, version) {
		accessor(t.next).SetResourceVersion(version)
	} else {
		var err error
		if o, err = c.res.seal(t.next, rv); err != nil {
			return nil, err
		}
	}
	o.rv = rv
	o.share(t.base)
	if t.kind == watch.Deleted {
		delete(c.objects, o.key)
	} else {
		c.objects[o.key] = o
	}
	c.cold.Store(c.history.append(event{rv: rv, kind: t.kind, object: o, prev: t.base}))
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
	return o, nil
}
