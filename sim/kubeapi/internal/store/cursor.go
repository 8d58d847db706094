package store

// Cursor is the position of a watcher in a history. Watchers pull, so the cost of a write does not
// depend on their number, and a slow watcher costs nothing until the history has moved past it.
type Cursor struct {
	c     *Collection
	Seq   uint64 // sequence number of the next event to read
	after uint64 // this watcher skips events up to this version
}

// batch is the result of a read.
type batch struct {
	Events  []Event
	Lost    bool            // the history moved past the cursor: events are missing
	Version uint64          // when there are no events: the version the watcher is up to date with
	More    <-chan struct{} // when there are no events: closed at the next one
}

// CursorAt returns a cursor to the events after version rv. If some of them have been dropped it
// returns false and the oldest version from which a watch can start.
func (c *Collection) CursorAt(rv uint64) (*Cursor, uint64, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	seq, ok := c.history.since(rv)
	return &Cursor{c: c, Seq: seq, after: rv}, c.history.floor, ok
}

// Read appends at most limit events to into and advances the cursor. If there are no events it
// returns a channel that the next event closes.
func (cur *Cursor) Read(into []Event, limit int) batch {
	for {
		if b, ok := cur.tryRead(into, limit); ok {
			return b
		}
		cur.c.expectChange()
	}
}

// tryRead returns false if there is nothing to read and no channel to wait for yet.
func (cur *Cursor) tryRead(into []Event, limit int) (batch, bool) {
	c := cur.c
	c.mu.RLock()
	defer c.mu.RUnlock()
	if cur.Seq < c.history.first {
		return batch{Lost: true}, true
	}
	for ; cur.Seq < c.history.next && len(into) < limit; cur.Seq++ {
		if e := c.history.at(cur.Seq); e.Version > cur.after {
			into = append(into, *e)
		}
	}
	if len(into) > 0 {
		return batch{Events: into}, true
	}
	if c.ended {
		return batch{Lost: true}, true // its definition was deleted
	}
	return batch{Version: max(c.revision.Load(), cur.after), More: c.changed}, c.changed != nil
}

func (c *Collection) expectChange() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
}
