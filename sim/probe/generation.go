package probe

import (
	"maps"
	"slices"

	"github.com/prometheus/procfs"

	"windtunnel.dev/sim/event"
)

// countWorkers returns the number of workers and of their generations.
func countWorkers(alive []Worker) (workers, generations int) {
	type generation struct{ master, number int }
	seen := map[generation]bool{}
	for _, w := range alive {
		seen[generation{w.Master, w.Generation}] = true
	}
	return len(alive), len(seen)
}

// byGeneration groups the workers by generation and adds up their resident memory.
func byGeneration(alive []Worker) []event.Generation {
	var all []event.Generation
	for _, w := range alive {
		stat, err := procStat(w.PID)
		if err != nil || stat.ResidentMemory() == 0 {
			continue // it has ended, or has released its memory and ends
		}
		g := generationOf(all, w)
		if g == nil {
			all = append(all, event.Generation{Master: w.Master, Generation: w.Generation})
			g = &all[len(all)-1]
		}
		g.Workers++
		g.RSS += int64(stat.ResidentMemory())
		if w.State == event.Draining {
			g.Draining++
		}
	}
	return all
}

// generationOf returns the worker's generation, nil if it is not in the list.
func generationOf(all []event.Generation, w Worker) *event.Generation {
	i := slices.IndexFunc(all, func(g event.Generation) bool { return g.Master == w.Master && g.Generation == w.Generation })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// addPSS adds up the proportional memory (PSS) of nginx, whose processes are pids, and that of each
// generation. It stays 0 if the kernel does not let us read it.
func (u *Usage) addPSS(s *event.Usage, pids []int, alive []Worker) {
	generations := map[int]*event.Generation{}
	for _, w := range alive {
		generations[w.PID] = generationOf(s.ByGeneration, w)
		if !slices.Contains(pids, w.PID) { // left behind by another master
			pids = append(pids, w.PID)
		}
	}
	for _, pid := range pids {
		pss, err := pssOf(pid)
		if err != nil {
			u.pssTrouble.report("nginx's proportional memory is not sampled", err)
			return
		}
		s.NginxPSS += pss
		if g := generations[pid]; g != nil {
			g.PSS += pss
		}
	}
}

// pssOf returns the PSS of a process in bytes, 0 if it has ended.
func pssOf(pid int) (int64, error) {
	proc, err := procfs.NewProc(pid)
	if err != nil {
		return 0, nil //nolint:nilerr // it has ended
	}
	rollup, err := proc.ProcSMapsRollup()
	if err != nil && Exists(pid) && !gone(err) {
		return 0, err
	}
	return int64(rollup.Pss), nil
}

// addHeld counts the connections that draining workers hold open.
func (u *Usage) addHeld(s *event.Usage, alive []Worker) {
	draining := map[int]*event.Generation{}
	for _, w := range alive {
		if g := generationOf(s.ByGeneration, w); w.State == event.Draining && g != nil {
			draining[w.PID] = g
		}
	}
	if len(draining) == 0 {
		return
	}
	held, err := heldBy(slices.Sorted(maps.Keys(draining)))
	if err != nil {
		u.heldTrouble.report("the connections of draining workers are not sampled", err)
		return
	}
	for pid, g := range draining {
		if g.Held == nil {
			g.Held = &event.Connections{}
		}
		g.Held.Clients += held[pid].Clients
		g.Held.Pods += held[pid].Pods
	}
}
