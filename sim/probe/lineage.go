package probe

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"windtunnel.dev/sim/event"
)

// How nginx's master behaves, as far as it shows from outside
// (ngx_master_process_cycle): on a reload it forks all new workers one after
// the other, waits 100 ms, then tells all old ones to drain. A worker that
// crashed it replaces at once.
const (
	overlap      = 100 * time.Millisecond // old and new workers are active together for at least this
	batchLasts   = time.Second            // forking one set of workers takes no longer than this
	respawnAfter = 100 * time.Millisecond // a crashed worker is replaced within this of its last being seen
)

// sighting is a live worker as one look found it.
type sighting struct {
	pid     int
	state   event.WorkerState
	started time.Duration // since boot
}

// lineage sorts the workers of one master into generations. A worker that began
// after one of the newest generation had gone without draining replaces it, and
// is of that generation. One that began within the overlap of the newest
// generation's last, or while the generation before is still active, belongs to
// the newest. Any other is the first of the next. So a reload in the first 100 ms
// of a master's life is not told from its start, and a start that the machine
// holds up for longer looks like a reload.
type lineage struct {
	master  int
	newest  int             // generation, from 1
	last    time.Duration   // start of the newest generation's last worker
	workers map[int]Worker  // alive, by PID
	crashed []time.Duration // when workers of the newest generation were last seen before they had gone
	looked  time.Duration   // time of the look before
}

// see takes what one look at a time since boot found, and returns the workers
// whose state is new.
func (l *lineage) see(at time.Duration, found []sighting) []Worker {
	now := make(map[int]sighting, len(found))
	for _, s := range found {
		now[s.pid] = s
	}
	changed := l.follow(now)

	newcomers := slices.DeleteFunc(slices.Clone(found), func(s sighting) bool { _, known := l.workers[s.pid]; return known })
	slices.SortFunc(newcomers, func(a, b sighting) int {
		return cmp.Or(cmp.Compare(a.started, b.started), cmp.Compare(a.pid, b.pid))
	})
	// Looks further apart than the overlap can miss all of a reload: if nothing
	// is left of the newest generation and as many came, it was one.
	if at-l.looked >= overlap && len(newcomers) >= len(l.crashed) && !l.active(func(generation int) bool { return generation == l.newest }) {
		l.crashed = nil
	}
	for _, s := range newcomers {
		w := Worker{PID: s.pid, Master: l.master, Generation: l.place(s), State: s.state}
		l.workers[s.pid] = w
		changed = append(changed, w)
	}
	l.looked = at
	return changed
}

// follow updates the workers known before.
func (l *lineage) follow(now map[int]sighting) []Worker {
	var changed []Worker
	for _, pid := range slices.Sorted(maps.Keys(l.workers)) {
		w := l.workers[pid]
		s, alive := now[pid]
		switch {
		case !alive:
			if w.State == event.Active && w.Generation == l.newest {
				l.crashed = append(l.crashed, l.looked)
			}
			w.State = event.Exited
			delete(l.workers, pid)
		case s.state != w.State:
			w.State = s.state
			l.workers[pid] = w
		default:
			continue
		}
		changed = append(changed, w)
	}
	return changed
}

// place says which generation a new worker belongs to, and opens it.
func (l *lineage) place(s sighting) int {
	for i, gone := range l.crashed {
		if since := s.started + clockTick - gone; since >= 0 && since < respawnAfter {
			l.crashed = slices.Delete(l.crashed, i, i+1)
			return l.newest
		}
	}
	apart := s.started - l.last
	older := l.active(func(generation int) bool { return generation < l.newest })
	if l.newest == 0 || apart >= overlap && !(older && apart < batchLasts) {
		l.newest++
		l.crashed = nil
	}
	l.last = max(l.last, s.started)
	return l.newest
}

// active says whether a worker of such a generation serves and was not told to drain.
func (l *lineage) active(such func(generation int) bool) bool {
	for _, w := range l.workers {
		if w.State == event.Active && such(w.Generation) {
			return true
		}
	}
	return false
}
