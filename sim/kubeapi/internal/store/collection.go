// Package store holds the objects of a resource and the history of their changes. It stands between
// the writes, which commit transitions, and the lists and watches, which read snapshots, old
// versions and events. Its one rule: a stored object never changes, and all events of a resource
// are in the order of their versions.
package store

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// ErrConflict means that another writer changed the object first.
var ErrConflict = errors.New("the object changed meanwhile")

// IsConflict reports whether err is ErrConflict.
func IsConflict(err error) bool { return errors.Is(err, ErrConflict) }

// Collection holds the objects of one resource and their history. All collections of a server share
// one revision. It advances only inside mu, so the events of a resource are in the order of their
// versions, and the objects are complete for a version that is read inside mu.
type Collection struct {
	Resource *resource.Resource
	revision *atomic.Uint64

	mu      sync.RWMutex
	objects map[string]*Object
	history history
	changed chan struct{} // closed at the next event; nil without waiting readers
	ended   bool          // no more events follow

	Watchers atomic.Int32
	paged    atomic.Pointer[pagedList] // the snapshot that a client is listing in pages
	cold     atomic.Uint64             // version of the newest event that no longer keeps its JSON
}

// pagedList holds all objects at a version, in the order of their keys.
type pagedList struct {
	rv      uint64
	objects []*Object
}

// NewCollection returns an empty collection of res.
func NewCollection(res *resource.Resource, revision *atomic.Uint64) *Collection {
	return &Collection{Resource: res, revision: revision, objects: map[string]*Object{}, history: newHistory()}
}

// Observe sets a function that is called for every event, inside the lock and before any reader
// sees the event.
func (c *Collection) Observe(f func(Event)) { c.history.observe = f }

// Get returns the current state of an object, or nil if it does not exist.
func (c *Collection) Get(key string) *Object {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.objects[key]
}

// Fresh reports whether o is new enough to keep its JSON for the watchers.
func (c *Collection) Fresh(o *Object) bool { return o.Version > c.cold.Load() }

// Len returns the number of objects.
func (c *Collection) Len() int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.objects)
}

// Snapshot returns all objects in the order of their keys, the version for which they are complete,
// and a cursor to the events after it.
func (c *Collection) Snapshot() ([]*Object, uint64, *Cursor) {
	c.mu.RLock()
	objects := make([]*Object, 0, len(c.objects))
	for _, o := range c.objects {
		objects = append(objects, o)
	}
	rv, next := c.revision.Load(), c.history.next
	c.mu.RUnlock()
	sortByKey(objects)
	return objects, rv, &Cursor{c: c, Seq: next}
}

// SnapshotAt returns all objects as they were at version rv, by undoing the later events. It
// returns false if the history does not reach back that far.
func (c *Collection) SnapshotAt(rv uint64) ([]*Object, bool) {
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
	then := make(map[string]*Object, len(c.objects))
	for key, o := range c.objects {
		then[key] = o
	}
	for undo := c.history.next; undo > seq; undo-- {
		e := c.history.at(undo - 1)
		if e.prev == nil {
			delete(then, e.Object.Key)
		} else {
			then[e.Object.Key] = e.prev
		}
	}
	c.mu.RUnlock()
	objects := make([]*Object, 0, len(then))
	for _, o := range then {
		objects = append(objects, o)
	}
	sortByKey(objects)
	return objects, true
}

// KeepForPages keeps a snapshot that a client lists in pages, for its next page.
func (c *Collection) KeepForPages(rv uint64, objects []*Object) {
	c.paged.Store(&pagedList{rv, objects})
}

// VersionBefore returns the version that the objects had this long ago.
func (c *Collection) VersionBefore(lag time.Duration) uint64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.history.before(c.history.now() - lag)
}

// LimitHistory limits the history to this many events. Tests use it to make watchers late.
func (c *Collection) LimitHistory(events int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history.maxEvents = events
}

// DropHistory drops all events. Watchers that are up to date go on. A watcher that resumes from an
// earlier version is too late, even if nothing happened since.
func (c *Collection) DropHistory() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.history.len() > 0 {
		c.history.drop()
	}
	c.history.floor = c.revision.Load()
	c.paged.Store(nil)
}

// Close refuses further objects and ends the watches after their last event.
func (c *Collection) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}

// HasObjectsIn reports whether an object is in the namespace.
func (c *Collection) HasObjectsIn(namespace string) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for _, o := range c.objects {
		if o.Namespace == namespace {
			return true
		}
	}
	return false
}

func sortByKey(objects []*Object) {
	slices.SortFunc(objects, func(a, b *Object) int { return strings.Compare(a.Key, b.Key) })
}
