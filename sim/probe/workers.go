package probe

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"windtunnel.dev/sim/event"
)

// workersEvery is the time between two looks at the workers: a tenth of the time
// that two generations overlap. A look reads a file for each worker.
const workersEvery = 10 * time.Millisecond

// Worker is an nginx worker process in the state it was last seen in.
type Worker = event.Worker

// Workers follows the worker processes of one nginx master.
type Workers struct {
	log     *event.Log
	subject string
	master  func() (int, error)
	trouble trouble
	done    chan struct{}

	lineages map[int]*lineage // by master: the one before may still drain
	ends     ends

	mu      sync.Mutex
	pid     int // of the master, 0: not seen yet
	alive   []Worker
	changed chan struct{}
}

// WatchWorkers follows the workers of one nginx master through /proc until ctx
// ends, and logs every state each is first seen in. Master returns the master's
// PID, which may change; while it fails nothing new is looked for. A worker that
// comes and goes between two looks (10 ms) is not seen.
func WatchWorkers(ctx context.Context, log *event.Log, subject string, master func() (int, error)) *Workers {
	w := &Workers{
		log: log, subject: subject, master: master,
		trouble:  trouble{log: log, subject: subject},
		done:     make(chan struct{}),
		lineages: map[int]*lineage{},
		ends:     ends{},
		changed:  make(chan struct{}),
	}
	go w.run(ctx)
	return w
}

// Alive lists the workers that live, draining ones included, by generation and PID.
func (w *Workers) Alive() []Worker {
	alive, _ := w.Now()
	return alive
}

// Now is Alive together with a channel that is closed as soon as it is no longer
// true.
func (w *Workers) Now() (alive []Worker, changed <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.alive), w.changed
}

// Await returns the workers alive as soon as they are such that enough is true.
// It fails when ctx or the watch ends before that.
func (w *Workers) Await(ctx context.Context, enough func(alive []Worker) bool) ([]Worker, error) {
	for {
		alive, changed := w.Now()
		if enough(alive) {
			return alive, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return alive, fmt.Errorf("waiting for nginx workers, with %d alive: %w", len(alive), context.Cause(ctx))
		case <-w.done:
			return alive, fmt.Errorf("waiting for nginx workers, with %d alive: the watch has ended", len(alive))
		}
	}
}

// Master is the PID of the master as last seen, 0 before that.
func (w *Workers) Master() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pid
}

// Done is closed when the watch has ended.
func (w *Workers) Done() <-chan struct{} { return w.done }

func (w *Workers) run(ctx context.Context) {
	defer close(w.done)
	defer w.ends.close()
	ticker := time.NewTicker(workersEvery)
	defer ticker.Stop()
	for {
		w.look()
		select {
		case <-ticker.C:
		case <-ctx.Done():
			if _, err := w.master(); w.Master() == 0 && err != nil {
				w.trouble.report("no nginx worker was ever seen", err)
			}
			return
		}
	}
}

func (w *Workers) look() {
	current, err := w.master()
	if err != nil {
		current = 0 // not started, or gone: what it left behind is followed to its end
	}
	if current != 0 && w.lineages[current] == nil {
		w.lineages[current] = &lineage{master: current, workers: map[int]Worker{}}
	}
	var news []Worker
	for pid, line := range w.lineages {
		found := w.sightings(line, pid == current)
		news = append(news, line.see(sinceBoot(), found)...)
		if pid != current && len(line.workers) == 0 {
			delete(w.lineages, pid)
		}
	}
	w.publish(current, news)
}

// sightings looks at the workers known, and for new ones if the master lives.
func (w *Workers) sightings(line *lineage, lives bool) []sighting {
	var found []sighting
	for pid, worker := range line.workers {
		if state, ok := workerState(pid); ok {
			found = append(found, sighting{pid: pid, state: state})
		} else if w.ends.dying(pid) {
			found = append(found, sighting{pid: pid, state: worker.State})
		}
	}
	if !lives {
		return found
	}
	pids, err := children(line.master)
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
		state, ok := workerState(pid)
		if !ok {
			continue
		}
		if started, err := startedAt(pid); err == nil { // else it has gone meanwhile
			found = append(found, sighting{pid: pid, state: state, started: started})
		}
	}
	return found
}

// publish logs what is new and wakes those who wait for it.
func (w *Workers) publish(master int, news []Worker) {
	at := w.log.Now()
	for _, worker := range news {
		switch _, followed := w.ends[worker.PID]; {
		case worker.State == event.Exited:
			worker.Exit = w.ends.of(worker.PID)
		case !followed:
			w.ends.follow(worker.PID)
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
