package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"windtunnel.dev/internal/process"
	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/event"
)

// workersEvery is the time between two samples of the workers: a tenth of the time for which two
// generations overlap. A sample reads one file for each worker.
const workersEvery = 10 * time.Millisecond

// Worker is a process that answers requests, in the state in which it was last seen.
type Worker = event.Worker

// Workers follows the worker processes of one subject.
type Workers struct {
	log       *event.Log
	subject   string
	processes adapter.Processes
	master    func() (int, error)
	trouble   trouble
	done      chan struct{}

	lineages map[int]*lineage // by master: workers of an earlier master may still drain
	exits    exits

	mu      sync.Mutex
	pid     int // of the master, 0: not seen yet
	alive   []Worker
	changed chan struct{}
	next    chan struct{} // closed after the next sample; nil if nobody waits for it
}

// WatchWorkers follows the workers of one subject through /proc until ctx ends, and logs each worker
// when it is first seen in a state. Processes says how they are recognised. Master returns the PID of
// their master, which may change; while it fails, no new workers are looked for. A worker that starts
// and ends between two samples (10 ms) is not seen.
func WatchWorkers(ctx context.Context, log *event.Log, subject string, processes adapter.Processes, master func() (int, error)) *Workers {
	w := &Workers{
		log: log, subject: subject, processes: processes, master: master,
		trouble:  trouble{log: log, subject: subject},
		done:     make(chan struct{}),
		lineages: map[int]*lineage{},
		exits:    exits{},
		changed:  make(chan struct{}),
	}
	go w.run(ctx)
	return w
}

// Alive returns the living workers, including draining ones, by generation and PID.
func (w *Workers) Alive() []Worker {
	alive, _ := w.Now()
	return alive
}

// Now returns Alive, and a channel that is closed as soon as that changes.
func (w *Workers) Now() (alive []Worker, changed <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.alive), w.changed
}

// Await returns the living workers as soon as enough returns true for them. It returns an error if
// ctx or the watch ends before that.
func (w *Workers) Await(ctx context.Context, enough func(alive []Worker) bool) ([]Worker, error) {
	for {
		alive, changed := w.Now()
		if enough(alive) {
			return alive, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return alive, fmt.Errorf("waiting for workers, with %d alive: %w", len(alive), context.Cause(ctx))
		case <-w.done:
			return alive, fmt.Errorf("waiting for workers, with %d alive: the watch has ended", len(alive))
		}
	}
}

// Sample waits for the end of a sample that begins after the call and finds the master, if there ever
// was one: Alive then has all processes that were workers at the time of the call. It returns an error
// if ctx or the watch ends before that.
func (w *Workers) Sample(ctx context.Context) error {
	w.mu.Lock()
	if w.next == nil {
		w.next = make(chan struct{})
	}
	next := w.next
	w.mu.Unlock()
	select {
	case <-next:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("sampling workers: %w", context.Cause(ctx))
	case <-w.done:
		return errors.New("sampling workers: the watch has ended")
	}
}

// Master returns the PID of the master when it was last seen, 0 if it never was.
func (w *Workers) Master() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pid
}

// Done is closed when the watch has ended.
func (w *Workers) Done() <-chan struct{} { return w.done }

func (w *Workers) run(ctx context.Context) {
	defer close(w.done)
	defer w.exits.close()
	ticker := time.NewTicker(workersEvery)
	defer ticker.Stop()
	for {
		w.mu.Lock()
		next := w.next
		w.mu.Unlock()
		if w.sample() && next != nil {
			w.mu.Lock()
			w.next = nil
			w.mu.Unlock()
			close(next)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			if _, err := w.master(); w.Master() == 0 && err != nil {
				w.trouble.report("no worker was observed", err)
			}
			return
		}
	}
}

// sample records the workers. It reports whether it could look for new ones, which requires the master.
func (w *Workers) sample() (whole bool) {
	current, err := w.master()
	if err != nil {
		current = 0 // not started, or gone: the workers that it left behind are followed to their end
	}
	if current != 0 && w.lineages[current] == nil {
		w.lineages[current] = newLineage(current, w.processes.Workers == adapter.Forked)
	}
	var news []Worker
	for pid, line := range w.lineages {
		found := w.samples(line, pid == current)
		news = append(news, line.update(sinceBoot(), found)...)
		if pid != current && len(line.workers) == 0 {
			delete(w.lineages, pid)
		}
	}
	w.publish(current, news)
	return current != 0 || w.Master() == 0
}

// samples reads the state of the known workers, and of new ones if the master lives.
func (w *Workers) samples(line *lineage, lives bool) []workerSample {
	var found []workerSample
	for pid, worker := range line.workers {
		if state, ok := w.state(line.master, pid); ok {
			found = append(found, workerSample{pid: pid, state: state})
		} else if w.exits.isDying(pid) {
			found = append(found, workerSample{pid: pid, state: worker.State})
		}
	}
	if !lives {
		return found
	}
	pids, err := w.candidates(line.master)
	if err != nil {
		if Exists(line.master) {
			w.trouble.report("workers are not watched: the master's children cannot be listed", err)
		}
		return found
	}
	for _, pid := range pids {
		if _, known := line.workers[pid]; known {
			continue
		}
		state, ok := w.state(line.master, pid)
		if !ok {
			continue
		}
		if started, err := startedAt(pid); err == nil { // otherwise it has just gone
			found = append(found, workerSample{pid: pid, state: state, started: started})
		}
	}
	return found
}

// candidates returns the processes that may be workers of a master.
func (w *Workers) candidates(master int) ([]int, error) {
	switch w.processes.Workers {
	case adapter.Single:
		return []int{master}, nil
	case adapter.Forked: // the master may have several threads
		return process.Children(master), nil
	}
	return children(master)
}

// state returns the state of a worker; ok is false for anything that is not a live worker. Forked
// workers have no state of their own: the lineage knows it.
func (w *Workers) state(master, pid int) (state event.WorkerState, ok bool) {
	if w.processes.Workers == adapter.Titled {
		return titleState(w.processes, title(pid))
	}
	return event.Active, runsLike(master, pid)
}

// publish logs the new states and wakes the callers that wait for them.
func (w *Workers) publish(master int, news []Worker) {
	at := w.log.Now()
	for _, worker := range news {
		switch _, followed := w.exits[worker.PID]; {
		case worker.State == event.Exited:
			worker.Exit = w.exits.take(worker.PID)
		case !followed:
			w.exits.follow(worker.PID)
		}
		w.log.Write(event.Event{At: at, Subject: w.subject, Worker: &worker})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if master != 0 {
		w.pid = master
	}
	if len(news) == 0 {
		return
	}
	w.alive = w.alive[:0]
	for _, line := range w.lineages {
		w.alive = slices.AppendSeq(w.alive, maps.Values(line.workers))
	}
	slices.SortFunc(w.alive, func(a, b Worker) int {
		return cmp.Or(cmp.Compare(a.Generation, b.Generation), cmp.Compare(a.PID, b.PID))
	})
	close(w.changed)
	w.changed = make(chan struct{})
}
