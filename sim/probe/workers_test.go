package probe

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
)

func TestWorkersOfReloadsAndCrashes(t *testing.T) {
	n := startNginx(t, "return 200;")
	r := newRun(t)
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, n.masterPID)

	first, base := r.started(w)
	for generation := base + 1; generation <= base+3; generation++ {
		n.reload("return 200;")
		r.await(w, generation, 2)
	}

	victim := r.await(w, base+3, 2)[0]
	if err := syscall.Kill(victim.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	alive, err := w.Await(r.ctx, func(alive []Worker) bool { return len(alive) == 2 && !hasPID(alive, victim.PID) })
	if err != nil {
		t.Fatal(err)
	}
	for _, worker := range alive {
		if worker.Generation != base+3 {
			t.Errorf("after a crash: %+v, want generation %d", worker, base+3)
		}
	}
	n.reload("return 200;")
	r.await(w, base+4, 2)

	if w.Master() != n.master() {
		t.Errorf("master %d, want %d", w.Master(), n.master())
	}
	states := map[int][]event.WorkerState{}
	for _, e := range r.end(w) {
		if e.Trouble != nil {
			t.Errorf("trouble: %+v", e.Trouble)
			continue
		}
		if e.Subject != "subject" || e.Worker.Master != n.master() {
			t.Errorf("not of this subject: %+v", e)
		}
		states[e.Worker.PID] = append(states[e.Worker.PID], e.Worker.State)
	}
	if len(states) != 2*5+1 {
		t.Errorf("saw %d workers, want 11: five generations of two, and a replaced one", len(states))
	}
	for _, worker := range first {
		s := states[worker.PID]
		if s[0] != event.Active || s[len(s)-1] != event.Exited {
			t.Errorf("worker %d of the first generation was %v, want active to exited", worker.PID, s)
		}
	}
}

func TestWorkersBeforeNginxStarts(t *testing.T) {
	r := newRun(t)
	asked := make(chan struct{}, 1)
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, func() (int, error) {
		select {
		case asked <- struct{}{}:
		default:
		}
		return 0, errors.New("no pid file")
	})
	<-asked
	if alive := w.Alive(); len(alive) != 0 {
		t.Errorf("workers without a master: %v", alive)
	}
	events := r.end(w)
	if len(events) != 1 || events[0].Trouble == nil || events[0].Trouble.Detail != "no pid file" {
		t.Errorf("logged %+v, want one trouble that says why no worker was observed", events)
	}
	if _, err := w.Await(t.Context(), func([]Worker) bool { return false }); err == nil {
		t.Error("Await after the end returned no error")
	}
}

// A worker counts as draining if its title says so; an open connection keeps it draining.
func TestDrainingWorkerIsSeen(t *testing.T) {
	pod := startSlowPod(t)
	n := startNginx(t, "location / { proxy_pass http://"+pod.address+"; }")
	r := newRun(t)
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, n.masterPID)
	_, base := r.started(w)

	go pod.ask(n.address)
	<-pod.asked
	n.reload("return 200;")
	alive, err := w.Await(r.ctx, func(alive []Worker) bool {
		for _, worker := range alive {
			if worker.Generation <= base && worker.State == event.Draining {
				return len(alive) == 3
			}
		}
		return false
	})
	if err != nil {
		t.Fatalf("%v: %+v", err, alive)
	}
	pod.release()
	r.await(w, base+1, 2)
	r.end(w)
}

func TestTitles(t *testing.T) {
	for title, want := range map[string]event.WorkerState{
		"nginx: worker process\x00\x00\x00":                  event.Active,
		"nginx: worker process   ":                           event.Active,
		"nginx: worker process is shutting down\x00":         event.Draining,
		"nginx: master process nginx -c /etc/nginx.conf\x00": event.Exited,
		"nginx: cache manager process\x00":                   event.Exited,
		"nginx: cache loader process\x00":                    event.Exited,
		"":                                                   event.Exited, // a zombie
	} {
		if got, ok := titleState(titled, title); got != want || ok != (want != event.Exited) {
			t.Errorf("%q: %v, %v, want %v", title, got, ok, want)
		}
	}
}

func TestStartTimeUsesTheBootClock(t *testing.T) {
	started, err := startedAt(syscall.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if age := sinceBoot() - started; age < 0 || age > 24*time.Hour {
		t.Errorf("this test began %v ago", age)
	}
}

func hasPID(workers []Worker, pid int) bool {
	for _, w := range workers {
		if w.PID == pid {
			return true
		}
	}
	return false
}

// A sample that begins after a reload shows the new workers.
func TestSampleIsNotEarlier(t *testing.T) {
	n := startNginx(t, "return 200;")
	r := newRun(t)
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, n.masterPID)
	if err := w.Sample(r.ctx); err != nil || len(w.Alive()) == 0 {
		t.Errorf("%d workers, %v", len(w.Alive()), err)
	}
	r.end(w)
	if err := w.Sample(t.Context()); err == nil {
		t.Error("Sample after the end returned no error")
	}
}
