package probe

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/procfs"

	"windtunnel.dev/sim/event"
)

const (
	usageEvery    = 100 * time.Millisecond
	thoroughEvery = 10 // samples: a thorough one makes the kernel walk all sockets
	// pssRest is the pause after a sample of proportional memory, as a multiple of the time that the sample
	// took. The kernel walks all pages of the processes: with 2 GiB, that takes 60 ms of a processor,
	// which would distort the measurements.
	pssRest = 200
)

// Usage samples the resource usage of one subject's processes.
type Usage struct {
	log         *event.Log
	workers     *Workers
	controller  func() (int, error)
	trouble     trouble
	pssTrouble  trouble
	heldTrouble trouble
	fileTrouble trouble
	done        chan struct{}

	mu      sync.Mutex // one sample at a time
	seen    []Worker   // by the previous sample
	pssNext time.Time  // when proportional memory may be sampled again
}

// WatchUsage logs a sample every 100 ms until ctx ends. Every tenth sample is thorough, and so is
// each sample after a change of the workers. A thorough sample has the open files, the connections
// that draining workers hold and, unless that would take more than half a per cent of the time, the
// proportional memory. The first sample with one more generation of workers always has the
// proportional memory, because a reload needs the most memory while two generations are alive.
// Controller returns the controller's PID; if it is nil, or while it fails, the sample has no
// values of a controller. CPU times are multiples of 10 ms; those of nginx cover the master, its
// living children and its ended children.
func WatchUsage(ctx context.Context, log *event.Log, workers *Workers, controller func() (int, error)) *Usage {
	u := &Usage{
		log: log, workers: workers, controller: controller,
		trouble:     trouble{log: log, subject: workers.subject},
		pssTrouble:  trouble{log: log, subject: workers.subject},
		heldTrouble: trouble{log: log, subject: workers.subject},
		fileTrouble: trouble{log: log, subject: workers.subject},
		done:        make(chan struct{}),
	}
	go u.run(ctx)
	return u
}

// Sample logs a thorough sample with the proportional memory at once. It may also be called after the
// watch has ended.
func (u *Usage) Sample() { u.sample(true, true) }

// Done is closed when the watch has ended.
func (u *Usage) Done() <-chan struct{} { return u.done }

func (u *Usage) run(ctx context.Context) {
	defer close(u.done)
	ticker := time.NewTicker(usageEvery)
	defer ticker.Stop()
	for n := 0; ; n++ {
		u.sample(n%thoroughEvery == 0, false)
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// sample logs a sample. With pss, it has the proportional memory, whatever that costs.
func (u *Usage) sample(thorough, pss bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	master := u.workers.Master()
	if master == 0 {
		return // nothing has started
	}
	var s event.Usage
	pids, err := u.addNginx(master, &s)
	if err == nil && u.controller != nil {
		err = u.addController(&s)
	}
	if err != nil {
		if !gone(err) {
			u.trouble.report("usage is not sampled", err)
		}
		return
	}
	alive := u.workers.Alive()
	s.Workers, s.Generations = countWorkers(alive)
	s.ByGeneration = byGeneration(alive)
	if thorough || !slices.Equal(alive, u.seen) {
		_, before := countWorkers(u.seen)
		if began := time.Now(); pss || s.Generations > before || !began.Before(u.pssNext) {
			u.addPSS(&s, pids, alive)
			u.pssNext = time.Now().Add(pssRest * time.Since(began))
		}
		u.addFiles(&s, pids)
		u.addHeld(&s, alive)
	}
	u.seen = alive
	u.log.Write(event.Event{At: u.log.Now(), Subject: u.workers.subject, Usage: &s})
}

// addNginx adds up the values of the master and its children, and returns their PIDs. If a child
// ends during that, it would count twice or not at all: then it reads them again.
func (u *Usage) addNginx(master int, s *event.Usage) ([]int, error) {
	for {
		before, err := procStat(master)
		if err != nil {
			return nil, err
		}
		pids, err := children(master)
		if err != nil {
			return nil, err
		}
		s.NginxRSS = int64(before.ResidentMemory())
		s.NginxCPU = ownCPUTime(before) + childrenCPUTime(before)
		for _, pid := range pids {
			stat, err := procStat(pid)
			if gone(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			s.NginxRSS += int64(stat.ResidentMemory())
			s.NginxCPU += ownCPUTime(stat) + childrenCPUTime(stat)
		}
		after, err := procStat(master)
		if err != nil {
			return nil, err
		}
		if still, err := children(master); err != nil || slices.Equal(pids, still) && childrenCPUTime(before) == childrenCPUTime(after) {
			return append(pids, master), err
		}
	}
}

func (u *Usage) addController(s *event.Usage) error {
	pid, err := u.controller()
	if err != nil {
		return nil //nolint:nilerr // it is not running: its supervisor reports that
	}
	stat, err := procStat(pid)
	if gone(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if pid == u.workers.Master() {
		return nil // the controller answers the requests itself: addNginx has counted it
	}
	s.ControllerRSS = int64(stat.ResidentMemory())
	s.ControllerCPU, s.ChildrenCPU = ownCPUTime(stat), childrenCPUTime(stat)
	return nil
}

// ownCPUTime returns the CPU time of the process itself.
func ownCPUTime(stat procfs.ProcStat) time.Duration {
	return time.Duration(stat.UTime+stat.STime) * clockTick
}

// childrenCPUTime returns the CPU time of its children that ended and were reaped.
func childrenCPUTime(stat procfs.ProcStat) time.Duration {
	return time.Duration(stat.CUTime+stat.CSTime) * clockTick
}
