package simulate

import "time"

// task requests one sync, as in the queue of ingress-nginx.
type task struct {
	at     time.Duration
	always bool // it is never skipped
}

// add adds a task to the queue.
func (s *simulation) add(t task) {
	s.tasks = append(s.tasks, t)
	s.work()
}

// work processes the next task, unless a sync is running. It skips a task that was added before the
// last sync took its task, because that sync saw the task's change. It does not skip a task that
// was added while the sync waited for the rate limit, although the sync saw that change, too: one
// more sync follows, which does nothing.
func (s *simulation) work() {
	for !s.busy && len(s.tasks) > 0 {
		next := s.tasks[0]
		s.tasks = s.tasks[1:]
		if !next.always && s.lastSync > next.at {
			continue
		}
		s.busy = true
		taken := s.now
		s.at(s.syncs.reserve(s.now), func() { s.sync(taken) })
	}
}

// sync serves the changes that the controller has noticed. It ends with done.
func (s *simulation) sync(taken time.Duration) {
	s.out.Syncs++
	began := s.now
	done := func() {
		s.out.Syncing += s.now - began
		s.lastSync, s.busy = taken, false
		s.work()
	}
	post, reload := s.look()
	switch {
	case len(reload) > 0:
		s.reload(reload, func() { s.post(post, done) })
	case len(post) > 0:
		s.after(s.sample(Update, s.size()), func() { s.post(post, done) })
	default:
		s.after(s.sample(Update, Size{Fixed: 1}), done)
	}
}

// look takes the waiting changes: those that a POST serves, and those that a reload serves, unless
// the limit of reloads delays the reload.
func (s *simulation) look() (post, reload []*change) {
	for _, c := range s.open {
		if c.needsPost {
			post = append(post, c)
		} else {
			c.post = 0
		}
		if c.needsReload {
			s.held = append(s.held, c)
		} else {
			c.generation = 0
		}
		if !c.needsPost && !c.needsReload {
			c.first, c.last = s.now, s.now
		}
	}
	s.open = nil
	if len(s.held) == 0 || !s.mayReload() {
		return post, nil
	}
	reload, s.held = s.held, nil
	return post, reload
}

// mayReload reports whether this sync may reload nginx. If not, it requests a sync that may.
func (s *simulation) mayReload() bool {
	if s.in.Settings.dynamicRate() == s.in.Settings.SyncRate || s.reloads.take(s.now) {
		return true
	}
	if s.due <= s.now {
		s.due = s.reloads.next
		s.at(s.due, func() { s.add(task{at: s.now, always: true}) })
	}
	return false
}

func (s Settings) dynamicRate() float64 {
	if s.DynamicSyncRate > 0 {
		return s.DynamicSyncRate
	}
	return s.SyncRate
}

// reload renders and tests the configuration and reloads nginx. next continues the sync.
func (s *simulation) reload(served []*change, next func()) {
	size := s.confSize()
	s.after(s.sample(Render, size)+s.sample(Test, size)+s.sample(Signal, size)+s.sample(Start, size), func() {
		s.out.Reloads++
		old := s.newest()
		s.startGeneration()
		for _, c := range served {
			c.generation = s.newest().number
		}
		s.wait(served)
		s.after(s.sample(Handover, size), func() {
			s.retire(old)
			next()
		})
	})
}

// post posts the backends, if there are changes for it. next continues the sync.
func (s *simulation) post(served []*change, next func()) {
	if len(served) == 0 {
		next()
		return
	}
	list := s.costs[List].At(s.size())
	s.out.List = max(s.out.List, list)
	sent := list
	if s.in.Settings.Delta {
		sent = s.addDelta(s.costs[Delta].At(Size{Fixed: 1})*float64(services(served)), list)
	}
	s.after(s.sample(Post, Size{Fixed: 1, PerMiB: sent}), func() {
		s.out.Posts++
		s.posted = append(s.posted, posted{sent, sent == list})
		for _, c := range served {
			c.post = len(s.posted)
		}
		s.wait(served)
		s.announce()
		next()
	})
}

// posted is a POST that nginx has.
type posted struct {
	sent float64 // MiB
	full bool
}

// addDelta returns the size of the POST of changed backends, or of the whole list if the changes
// since the last full list exceed half of it.
func (s *simulation) addDelta(delta, list float64) float64 {
	sum := delta
	for i := len(s.posted) - 1; i >= 0 && !s.posted[i].full; i-- {
		sum += s.posted[i].sent
	}
	if sum > list/2 {
		return list
	}
	return delta
}

// services counts the services of changes.
func services(changes []*change) int {
	all := map[int]bool{}
	for _, c := range changes {
		all[c.service] = true
	}
	return len(all)
}
