package apply

import (
	"slices"
	"time"

	"windtunnel.dev/controller/nginx"
)

// drainPoll is the pause between two checks for old workers.
const drainPoll = 50 * time.Millisecond

// Draining reports whether old workers of a reload are still finishing their requests.
func (t *Target) Draining() bool { return t.draining.Load() > 0 }

// awaitDrained calls drained when the last old worker of a reload has ended. before are the workers
// before the reload; signalled is the time of the reload's signal. It does not block.
func (t *Target) awaitDrained(process *nginx.Process, before []nginx.Worker, signalled time.Time) {
	var retired []int
	for _, worker := range before {
		if !worker.Draining {
			retired = append(retired, worker.PID)
		}
	}
	t.draining.Add(1)
	go func() {
		gone := awaitGone(process, retired)
		t.draining.Add(-1)
		if gone && t.drained != nil {
			t.drained(time.Since(signalled))
		}
	}()
}

// awaitGone returns true when none of the workers is left, or false when the nginx process has
// ended.
func awaitGone(process *nginx.Process, pids []int) bool {
	tick := time.NewTicker(drainPoll)
	defer tick.Stop()
	for {
		workers, err := process.Workers()
		left := slices.ContainsFunc(workers, func(w nginx.Worker) bool { return slices.Contains(pids, w.PID) })
		if err == nil && !left {
			return true
		}
		select {
		case <-tick.C:
		case <-process.Done():
			return false
		}
	}
}
