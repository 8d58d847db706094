package kubeapi

import (
	"bytes"
	"maps"

	corev1 "k8s.io/api/core/v1"
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

// prepareUpdate is prepare for a new state of base, which was decoded as old: it
// counts the generation, and leaves everything as it is, with a transition of no
// kind, when nothing changes. The rules say what counts.
func (c *collection) prepareUpdate(rules *resource, base *object, old, next runtime.Object, counted bool) (transition, error) {
	res, is := c.res, metadataOf(next)
	counted = counted && rules.generation
	if counted {
		is.Generation++ // most likely
	}
	sealed, err := res.seal(next, base.rv)
	if err != nil {
		return transition{}, err
	}
	if counted && rules.sameSpec(sealed.raw, base.raw) && !(rules.generationLabels && !maps.Equal(metadataOf(old).Labels, is.Labels)) {
		is.Generation--
		if sealed, err = res.seal(next, base.rv); err != nil {
			return transition{}, err
		}
	}
	if bytes.Equal(sealed.raw, base.raw) || onlyLater(sealed, base, old, next) {
		return transition{base: base, next: next, sealed: base}, nil
	}
	return transition{watch.Modified, base, next, sealed}, nil
}

// onlyLater says whether sealed, which is next, is base again but for the times of
// its managed fields: nobody would know why it changed.
func onlyLater(sealed, base *object, old, next runtime.Object) bool {
	was, is := metadataOf(old), metadataOf(next)
	if len(is.ManagedFields) == 0 || !sameManagers(was.ManagedFields, is.ManagedFields) || !sameButMetadata(sealed.raw, base.raw) {
		return false
	}
	later := is.ManagedFields
	is.ManagedFields = was.ManagedFields
	again, err := base.res.seal(next, base.rv)
	is.ManagedFields = later
	return err == nil && bytes.Equal(again.raw, base.raw)
}

// gone is the end of base, in its last state.
func gone(base *object) transition { return transition{watch.Deleted, base, nil, base.clone()} }

// prepareEnd deletes base or, if finalizers hold it or it gets time to end, marks
// it to be deleted. asked is how many seconds the client gives it, nil for the default.
func (c *collection) prepareEnd(base *object, asked *int64) (transition, error) {
	if !base.hasFinalizers() && !c.graceful {
		return gone(base), nil
	}
	last, err := base.decode()
	if err != nil {
		return transition{}, err
	}
	return c.prepareEndOf(base, last, asked)
}

// prepareEndOf is prepareEnd of base whose last state was decoded, and perhaps given
// other finalizers. It leaves everything as it is, with a transition of no kind, when
// nothing changes.
func (c *collection) prepareEndOf(base *object, last runtime.Object, asked *int64) (transition, error) {
	m, grace := metadataOf(last), int64(0)
	if c.graceful {
		grace = graceOf(last.(*corev1.Pod), asked)
	}
	switch {
	case grace == 0 && len(m.Finalizers) == 0:
		return c.prepare(watch.Deleted, base, last)
	case !base.deleting || grace < *m.DeletionGracePeriodSeconds:
		markDeleted(m, grace)
	}
	sealed, err := c.res.seal(last, base.rv)
	if err == nil && bytes.Equal(sealed.raw, base.raw) {
		return transition{base: base, sealed: base}, nil
	}
	return transition{watch.Modified, base, last, sealed}, err
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

// apply is for who holds mu.
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
