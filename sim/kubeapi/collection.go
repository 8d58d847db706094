package kubeapi

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// errMoved says that another writer was first.
var errMoved = errors.New("the object changed meanwhile")

// collection holds the objects of one resource and their history. The revision
// is the server's, one for all collections; it is advanced inside mu, so that
// the order of a resource's events is the order of their versions, and a version read
// inside mu is one that the objects are complete for.
type collection struct {
	res      *resource
	revision *atomic.Uint64
	graceful bool // a deleted object gets time to end

	mu      sync.RWMutex
	objects map[string]*object
	history history
	changed chan struct{} // closed at the next event; nil while nobody waits
}

func newCollection(res *resource, revision *atomic.Uint64) *collection {
	return &collection{res: res, revision: revision, objects: map[string]*object{}, history: newHistory()}
}

// get returns the current state, nil if there is none.
func (c *collection) get(key string) *object {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.objects[key]
}

func (c *collection) len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.objects)
}

// commit replaces base, the state that next was made from (nil: there must be
// none), and appends the event. It fails with errMoved if base is no longer current.
func (c *collection) commit(kind watch.EventType, base *object, next runtime.Object) (*object, error) {
	m := accessor(next)
	key := keyOf(m.GetNamespace(), m.GetName())
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.objects[key] != base {
		return nil, errMoved
	}
	o, err := c.res.seal(next, c.revision.Add(1))
	if err != nil {
		return nil, err
	}
	if kind == watch.Deleted {
		delete(c.objects, key)
	} else {
		c.objects[key] = o
	}
	c.history.append(event{rv: o.rv, kind: kind, object: o, prev: base})
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
	return o, nil
}

// snapshot returns all objects in the order of their keys, the version they are
// complete for, and a cursor to what comes after.
func (c *collection) snapshot() ([]*object, uint64, *cursor) {
	c.mu.RLock()
	objects := make([]*object, 0, len(c.objects))
	for _, o := range c.objects {
		objects = append(objects, o)
	}
	rv, next := c.revision.Load(), c.history.next
	c.mu.RUnlock()
	sortByKey(objects)
	return objects, rv, &cursor{c: c, seq: next}
}

// snapshotAt returns all objects as they were at version rv, by undoing what
// came later. It is false when the history no longer reaches back that far.
func (c *collection) snapshotAt(rv uint64) ([]*object, bool) {
	c.mu.RLock()
	seq, ok := c.history.since(rv)
	if !ok {
		c.mu.RUnlock()
		return nil, false
	}
	then := make(map[string]*object, len(c.objects))
	for key, o := range c.objects {
		then[key] = o
	}
	for undo := c.history.next; undo > seq; undo-- {
		e := c.history.at(undo - 1)
		if e.prev == nil {
			delete(then, e.object.key)
		} else {
			then[e.object.key] = e.prev
		}
	}
	c.mu.RUnlock()
	objects := make([]*object, 0, len(then))
	for _, o := range then {
		objects = append(objects, o)
	}
	sortByKey(objects)
	return objects, true
}

func sortByKey(objects []*object) {
	slices.SortFunc(objects, func(a, b *object) int { return strings.Compare(a.key, b.key) })
}
