package kubeapi

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// errMoved says that another writer was first.
var errMoved = errors.New("the object changed meanwhile")

func moved(err error) bool { return errors.Is(err, errMoved) }

// collection holds the objects of one resource and their history. The revision
// is the server's, one for all collections; it is advanced inside mu, so that
// the order of a resource's events is the order of their versions, and a version read
// inside mu is one that the objects are complete for.
type collection struct {
	res      *resource
	revision *atomic.Uint64

	mu      sync.RWMutex
	objects map[string]*object
	history history
	changed chan struct{} // closed at the next event; nil while nobody waits
	ended   bool          // no more events will come

	watchers atomic.Int32
	paged    atomic.Pointer[pagedList] // what a client lists in pages at present
	cold     atomic.Uint64             // version of the newest event that no longer keeps its JSON
}

// pagedList is all objects, in the order of their keys, as they were at a version.
type pagedList struct {
	rv      uint64
	objects []*object
}

func newCollection(res *resource, revision *atomic.Uint64) *collection {
	return &collection{res: res, revision: revision, objects: map[string]*object{}, history: newHistory()}
}

// observe has f called for every event, inside the lock and before anybody else sees the event.
func (c *collection) observe(f func(event)) { c.history.observe = f }

// get returns the current state, nil if there is none.
func (c *collection) get(key string) *object {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.objects[key]
}

// fresh says whether o is new enough to keep its JSON for the watchers.
func (c *collection) fresh(o *object) bool { return o.rv > c.cold.Load() }

func (c *collection) len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.objects)
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
	if paged := c.paged.Load(); paged != nil && paged.rv == rv {
		c.mu.RUnlock()
		return paged.objects, true
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

// keepForPages keeps a snapshot that a client lists in pages: the next page needs it.
func (c *collection) keepForPages(rv uint64, objects []*object) {
	c.paged.Store(&pagedList{rv, objects})
}

// versionBefore is the version of the objects as they were so long ago.
func (c *collection) versionBefore(lag time.Duration) uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.history.before(c.history.now() - lag)
}

// forget gives up all events. Who watches and is up to date goes on; who comes
// back with an earlier version, even if nothing happened since, is too late.
func (c *collection) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.history.len() > 0 {
		c.history.drop()
	}
	c.history.floor = c.revision.Load()
	c.paged.Store(nil)
}

// close lets no more objects in and ends the watches, after all events.
func (c *collection) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// holdsIn reports whether an object is in the namespace.
func (c *collection) holdsIn(namespace string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, o := range c.objects {
		if o.namespace == namespace {
			return true
		}
	}
	return false
}

func sortByKey(objects []*object) {
	slices.SortFunc(objects, func(a, b *object) int { return strings.Compare(a.key, b.key) })
}
