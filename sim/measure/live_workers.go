package measure

import (
	"slices"

	"windtunnel.dev/sim/event"
)

// liveWorkers contains the live workers by PID, including draining workers.
type liveWorkers map[int]member

type member struct {
	generation generation
	active     bool
}

func (c liveWorkers) update(w event.Worker) {
	if w.State == event.Exited {
		delete(c, w.PID)
		return
	}
	c[w.PID] = member{generation{w.Master, w.Generation}, w.State == event.Active}
}

func (c liveWorkers) generations() int {
	alive := map[generation]bool{}
	for _, m := range c {
		alive[m.generation] = true
	}
	return len(alive)
}

// active returns the sorted PIDs of the workers that accept new connections.
func (c liveWorkers) active() []int {
	var pids []int
	for pid, m := range c {
		if m.active {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	return pids
}
