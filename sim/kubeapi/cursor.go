package kubeapi

// cursor is a watcher's place in a history. Watchers pull: a write costs the
// same whether one watches or a hundred, and a slow watcher costs nobody
// anything until the history has moved past it.
type cursor struct {
	c     *collection
	seq   uint64 // of the next event to read
	after uint64 // events up to this version are not for this watcher
}

// batch is what a cursor read.
type batch struct {
	events []event
	lost   bool            // the history moved past the cursor: events are missing
	rv     uint64          // when there are no events: the version the watcher is up to date with
	more   <-chan struct{} // when there are no events: closed at the next one
}

// cursorAt returns a cursor to the events after version rv; it is false, with
// the oldest version there is, when some of those have been given up.
func (c *collection) cursorAt(rv uint64) (*cursor, uint64, bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	seq, ok := c.history.since(rv)
	return &cursor{c: c, seq: seq, after: rv}, c.history.floor, ok
}

// read appends up to limit events to into and moves on. When there are none it
// returns the channel to wait for.
func (cur *cursor) read(into []event, limit int) batch {
	for {
		if b, ok := cur.tryRead(into, limit); ok {
			return b
		}
		cur.c.expectChange()
	}
}

// tryRead is false when there is nothing to read and no channel to wait for yet.
func (cur *cursor) tryRead(into []event, limit int) (batch, bool) {
	c := cur.c
	c.mu.RLock()
	defer c.mu.RUnlock()
	if cur.seq < c.history.first {
		return batch{lost: true}, true
	}
	for ; cur.seq < c.history.next && len(into) < limit; cur.seq++ {
		if e := c.history.at(cur.seq); e.rv > cur.after {
			into = append(into, *e)
		}
	}
	if len(into) > 0 {
		return batch{events: into}, true
	}
	if c.ended {
		return batch{lost: true}, true // its definition was deleted
	}
	return batch{rv: max(c.revision.Load(), cur.after), more: c.changed}, c.changed != nil
}

func (c *collection) expectChange() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
}
