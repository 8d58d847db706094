package probe

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"windtunnel.dev/sim/event"
)

// How nginx's master behaves, as seen from outside (ngx_master_process_cycle): on a reload it forks
// all new workers one after the other, waits 100 ms, then tells all old ones to drain. It replaces
// a worker that crashed at once.
const (
	overlap      = 100 * time.Millisecond // old and new workers are active together for at least this
	batchLasts   = time.Second            // forking one set of workers takes no longer than this
	respawnAfter = 100 * time.Millisecond // a crashed worker is replaced within this time after it was last seen
	undrained    = 5 * time.Second        // workers still active this long after the newest came are of its generation
)

// workerSample is a live worker as found by one sample of the processes.
type workerSample struct {
	pid     int
	state   event.WorkerState
	started time.Duration // since boot
}

// lineage assigns the workers of one master to generations. A worker that started after a worker of
// the newest generation had ended without draining replaces it, and belongs to the same generation.
// A worker that started within the overlap of the newest generation's last worker, or while the
// generation before is still active, belongs to the newest generation. Any other worker is the
// first of the next generation. So a reload in the first 100 ms of a master's life cannot be
// distinguished from the master's start. A start that the machine delays beyond the overlap first
// looks like a reload. If the older workers are then not told to drain, there was no reload: they
// join the newest generation.
type lineage struct {
	master  int
	forked  bool            // each worker is a generation; all but the newest one alive drain
	newest  int             // generation, from 1
	last    time.Duration   // start of the newest generation's last worker
	workers map[int]Worker  // alive, by PID
	crashed []time.Duration // when workers of the newest generation that have gone were last seen
	sampled time.Duration   // time of the previous sample
}

func newLineage(master int, forked bool) *lineage {
	return &lineage{master: master, forked: forked, workers: map[int]Worker{}}
}

// update records what one sample found, at a time since boot, and returns the workers whose state
// is new.
func (l *lineage) update(at time.Duration, found []workerSample) []Worker {
	if l.forked {
		l.drainOlder(found)
	}
	now := make(map[int]workerSample, len(found))
	for _, s := range found {
		now[s.pid] = s
	}
	changed := l.follow(now)

	newcomers := slices.DeleteFunc(slices.Clone(found), func(s workerSample) bool { _, known := l.workers[s.pid]; return known })
	slices.SortFunc(newcomers, byStart)
	// Two samples that are further apart than the overlap can miss a whole reload: if no worker of
	// the newest generation is left and at least as many new workers came, there was a reload.
	if at-l.sampled >= overlap && len(newcomers) >= len(l.crashed) && !l.active(func(generation int) bool { return generation == l.newest }) {
		l.crashed = nil
	}
	for _, s := range newcomers {
		w := Worker{PID: s.pid, Master: l.master, Generation: l.generationOfNew(s), State: s.state}
		l.workers[s.pid] = w
		changed = append(changed, w)
	}
	changed = append(changed, l.join(at)...)
	l.sampled = at
	return changed
}

// join moves workers that were never told to drain to the newest generation, and returns them.
func (l *lineage) join(at time.Duration) []Worker {
	if l.forked || at-l.last < undrained {
		return nil
	}
	var joined []Worker
	for _, pid := range slices.Sorted(maps.Keys(l.workers)) {
		w := l.workers[pid]
		if w.State != event.Active || w.Generation == l.newest {
			continue
		}
		w.Generation = l.newest
		l.workers[pid] = w
		joined = append(joined, w)
	}
	return joined
}

func byStart(a, b workerSample) int {
	return cmp.Or(cmp.Compare(a.started, b.started), cmp.Compare(a.pid, b.pid))
}

// drainOlder sets the states of forked workers: the newest one is active, and all others drain. If the
// newest one ends, as after a start that failed, the one before it is active again.
func (l *lineage) drainOlder(found []workerSample) {
	rank := func(s workerSample) int { // of newcomers: after all others
		if w, known := l.workers[s.pid]; known {
			return w.Generation
		}
		return l.newest + 1
	}
	newest := 0
	for i, s := range found {
		if cmp.Or(cmp.Compare(rank(s), rank(found[newest])), byStart(s, found[newest])) > 0 {
			newest = i
		}
	}
	for i := range found {
		found[i].state = event.Draining
		if i == newest {
			found[i].state = event.Active
		}
	}
}

// follow updates the workers that are known already.
func (l *lineage) follow(now map[int]workerSample) []Worker {
	var changed []Worker
	for _, pid := range slices.Sorted(maps.Keys(l.workers)) {
		w := l.workers[pid]
		s, alive := now[pid]
		switch {
		case !alive:
			if w.State == event.Active && w.Generation == l.newest {
				l.crashed = append(l.crashed, l.sampled)
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

// generationOfNew returns the generation of a new worker, which may be a new generation.
func (l *lineage) generationOfNew(s workerSample) int {
	if l.forked {
		l.newest++
		return l.newest
	}
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

// active reports whether a worker of such a generation serves and was not told to drain.
func (l *lineage) active(such func(generation int) bool) bool {
	for _, w := range l.workers {
		if w.State == event.Active && such(w.Generation) {
			return true
		}
	}
	return false
}
