package probe

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
)

func TestConvergenceOfAReload(t *testing.T) {
	old, fresh := startPod(t, "demo/old"), startPod(t, "demo/fresh")
	n := startNginx(t, "location / { proxy_pass http://"+old+"; }")
	r := newRun(t)
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, n.masterPID)
	first, base := r.started(w)
	c := StartConvergence(r.ctx, r.Log, w, ConvergenceOptions{Address: n.address})

	c.Watch(change(1, nil, "demo/old"))
	if err := c.Await(r.ctx); err != nil { // both workers answer from the old
		t.Fatal(err)
	}
	c.Watch(change(2, []string{"demo/old"}, "demo/fresh"))
	if c.Pending() != 1 {
		t.Errorf("%d changes pending, want 1", c.Pending())
	}
	soon, cancel := context.WithTimeout(r.ctx, 50*time.Millisecond)
	if err := c.Await(soon); err == nil || !strings.HasPrefix(err.Error(), "changes still open: 1") {
		t.Errorf("settled before the reload: %v", err)
	}
	cancel()
	n.reload("location / { proxy_pass http://" + fresh + "; }")
	if err := c.Await(r.ctx); err != nil {
		t.Fatal(err)
	}
	second := r.await(w, base+1, 2)

	events := r.end(w, c)
	pods := answersOf(t, events, 2)
	for _, worker := range first {
		if got := pods[worker.PID]; len(got) == 0 || got[0] != "demo/old" || got[len(got)-1] != "demo/old" {
			t.Errorf("worker %d of the old configuration answered %v, want only demo/old", worker.PID, got)
		}
	}
	for _, worker := range second {
		if got := strings.Join(pods[worker.PID], " "); got != "demo/fresh demo/fresh" {
			t.Errorf("worker %d of the new configuration answered %q, want demo/fresh exactly twice", worker.PID, got)
		}
	}
	if effort := c.Effort(); effort.Connections < 4 || effort.Workers != 4 || effort.Unreached != 0 {
		t.Errorf("%+v for four workers", effort)
	}
}

func TestConvergenceWithoutAReload(t *testing.T) {
	pod := startSwitchPod(t, "demo/old")
	n := startNginx(t, "location / { proxy_pass http://"+pod.address+"; }")
	r := newRun(t)
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, n.masterPID)
	workers := r.await(w, 0, 2)
	c := StartConvergence(r.ctx, r.Log, w, ConvergenceOptions{Address: n.address, Gap: time.Millisecond})

	// Many changes are open at once, and each gets its turn.
	const changes = 20
	for id := 1; id <= changes; id++ {
		c.Watch(event.Change{ID: id, Service: fmt.Sprintf("demo/svc-%d", id), Host: fmt.Sprintf("svc-%d", id), Pods: 1,
			Added: []string{"demo/fresh"}})
	}
	pod.awaitAnswers(r.ctx, t, 3*2*changes)
	pod.name.Store("demo/fresh")
	if err := c.Await(r.ctx); err != nil {
		t.Fatal(err)
	}
	events := r.end(w, c)
	for id := 1; id <= changes; id++ {
		pods := answersOf(t, events, id)
		for _, worker := range workers {
			got := strings.Join(pods[worker.PID], " ")
			if !strings.HasPrefix(got, "demo/old ") || !strings.HasSuffix(got, "demo/old demo/fresh demo/fresh") {
				t.Errorf("change %d, worker %d: %s, want old ones, then fresh twice", id, worker.PID, got)
			}
		}
	}
}

func TestConvergenceSurvivesKeepaliveRequests(t *testing.T) {
	pod := startSwitchPod(t, "demo/old")
	n := startNginx(t, "keepalive_requests 50; location / { proxy_pass http://"+pod.address+"; }")
	r := newRun(t)
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, n.masterPID)
	r.await(w, 0, 2)
	c := StartConvergence(r.ctx, r.Log, w, ConvergenceOptions{Address: n.address, Gap: 100 * time.Microsecond})
	c.Watch(change(1, []string{"demo/old"}, "demo/fresh"))
	pod.awaitAnswers(r.ctx, t, 400)
	pod.name.Store("demo/fresh")
	if err := c.Await(r.ctx); err != nil {
		t.Fatal(err)
	}
	opened := c.Effort().Connections
	answersOf(t, r.end(w, c), 1) // none failed
	if opened < 8 {
		t.Errorf("%d connections for 400 answers, with at most 50 on each", opened)
	}
}

func TestSupersededChange(t *testing.T) {
	pod := startSwitchPod(t, "demo/a")
	n := startNginx(t, "location / { proxy_pass http://"+pod.address+"; }")
	r := newRun(t)
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, n.masterPID)
	r.await(w, 0, 2)
	c := StartConvergence(r.ctx, r.Log, w, ConvergenceOptions{Address: n.address})
	c.Watch(change(1, []string{"demo/a"}, "demo/b"))
	pod.awaitAnswers(r.ctx, t, 10)
	c.Watch(change(2, []string{"demo/b"}, "demo/c"))
	pod.name.Store("demo/c") // b never serves
	if err := c.Await(r.ctx); err != nil {
		t.Fatal(err)
	}
	r.end(w, c)
}

// A new worker is asked about open changes, but not about those that were undone
// before.
func TestNewWorkerIsAskedAboutOpenChanges(t *testing.T) {
	pod := startSwitchPod(t, "demo/a")
	server := "location / { proxy_pass http://" + pod.address + "; }"
	n := startNginx(t, server)
	r := newRun(t)
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, n.masterPID)
	_, base := r.started(w)
	c := StartConvergence(r.ctx, r.Log, w, ConvergenceOptions{Address: n.address})
	c.Watch(event.Change{ID: 1, Service: "demo/svc", Host: "a", Added: []string{"demo/b", "demo/c"}, Pods: 2})
	c.Watch(event.Change{ID: 2, Service: "demo/svc", Host: "a", Removed: []string{"demo/b"}, Pods: 1})
	pod.awaitAnswers(r.ctx, t, 50) // change 2 has settled, 1 waits for c
	n.reload(server)
	second := r.await(w, base+1, 2)
	pod.name.Store("demo/c")
	if err := c.Await(r.ctx); err != nil {
		t.Fatal(err)
	}
	pods := answersOf(t, r.end(w, c), 1)
	for _, worker := range second {
		if got := pods[worker.PID]; len(got) == 0 || got[len(got)-1] != "demo/c" {
			t.Errorf("new worker %d answered %v", worker.PID, got)
		}
	}
}

func TestConvergenceEndsWithoutLeaks(t *testing.T) {
	pod := startPod(t, "demo/a")
	n := startNginx(t, "location / { proxy_pass http://"+pod+"; }")
	r := newRun(t)
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, n.masterPID)
	r.await(w, 0, 2)
	goroutines, files := runtime.NumGoroutine(), openFiles(t)
	ctx, cancel := context.WithCancel(r.ctx)
	c := StartConvergence(ctx, r.Log, w, ConvergenceOptions{Address: n.address})
	c.Watch(change(1, nil, "demo/a"))
	if err := c.Await(r.ctx); err != nil {
		t.Fatal(err)
	}
	c.Watch(change(2, nil, "demo/never"))
	c.Watch(event.Change{ID: 3}) // without a host, so no worker can be asked about it
	if c.Pending() != 1 {
		t.Errorf("%d pending, want 1", c.Pending())
	}
	cancel()
	<-c.Done()
	if err := c.Await(r.ctx); err == nil {
		t.Error("settled, though a change was open when the probe ended")
	}
	// The pod's server, which is also in this process, closes its side later.
	for runtime.NumGoroutine() > goroutines || openFiles(t) > files {
		if r.ctx.Err() != nil {
			t.Fatalf("%d goroutines and %d files before, %d and %d after", goroutines, files, runtime.NumGoroutine(), openFiles(t))
		}
		runtime.Gosched()
	}
	r.end(w)
}

func change(id int, removed []string, added ...string) event.Change {
	return event.Change{ID: id, Service: "demo/svc", Host: "a.example", Path: "/", Added: added, Removed: removed, Pods: 1}
}

// answersOf returns the pods that answered for a change, by worker. It fails the test if a poll
// failed.
func answersOf(t *testing.T, events []event.Event, id int) map[int][]string {
	t.Helper()
	pods := map[int][]string{}
	for _, e := range events {
		if e.Trouble != nil {
			t.Errorf("trouble: %+v", e.Trouble)
		}
		if e.Answer == nil || e.Answer.Change != id {
			continue
		}
		if e.Answer.Error != "" || e.Answer.Status != 200 || e.Answer.Took <= 0 || e.Subject != "subject" {
			t.Errorf("answer %+v", e.Answer)
		}
		pods[e.Answer.Worker] = append(pods[e.Answer.Worker], e.Answer.Pod)
	}
	return pods
}

func openFiles(t *testing.T) int {
	t.Helper()
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(files)
}

// With two changes of one route, and a worker that uses an even number of pods in turn, every
// answer counts for both changes.
func TestChangesOfOneRouteShareAnswers(t *testing.T) {
	pods := []string{startPod(t, "demo/a"), startPod(t, "demo/b")}
	n := startNginx(t, "location / { proxy_pass http://pair; }", "upstream pair { server "+pods[0]+"; server "+pods[1]+"; }")
	r := newRun(t)
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, n.masterPID)
	r.await(w, 0, 2)
	c := StartConvergence(r.ctx, r.Log, w, ConvergenceOptions{Address: n.address})
	for id := 1; id <= 2; id++ {
		c.Watch(event.Change{ID: id, Service: "demo/svc", Host: "a", Added: []string{"demo/a", "demo/b"}, Pods: 2})
	}
	if err := c.Await(r.ctx); err != nil {
		t.Fatal(err)
	}
	events := r.end(w, c)
	for id := 1; id <= 2; id++ {
		for worker, got := range answersOf(t, events, id) {
			if len(got) > 5 { // two to see both, and with the second four in a row
				t.Errorf("change %d, worker %d: %v", id, worker, got)
			}
			for i := 1; i < len(got); i++ {
				if got[i] == got[i-1] {
					t.Errorf("change %d, worker %d: %v does not alternate", id, worker, got)
				}
			}
		}
	}
}

// An answer from a pod that stays shows nothing, so the worker is asked again at once, without the gap.
func TestAnswerThatShowsNothing(t *testing.T) {
	stays, comes := startPod(t, "demo/stays"), startPod(t, "demo/comes")
	n := startNginx(t, "location / { proxy_pass http://pair; }", "upstream pair { server "+stays+" weight=2; server "+comes+"; }")
	r := newRun(t)
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, n.masterPID)
	workers := r.await(w, 0, 2)
	c := StartConvergence(r.ctx, r.Log, w, ConvergenceOptions{Address: n.address, Gap: time.Hour, Eager: time.Hour})
	c.Watch(event.Change{ID: 1, Service: "demo/svc", Host: "a", Added: []string{"demo/comes"}})
	if err := c.Await(r.ctx); err != nil {
		t.Fatal(err)
	}
	answers := answersOf(t, r.end(w, c), 1)
	for _, worker := range workers {
		if got := strings.Join(answers[worker.PID], " "); got != "demo/stays demo/comes" {
			t.Errorf("worker %d: %s", worker.PID, got)
		}
	}
}

// A worker that accepts no connection is reported, until it does.
func TestUnreachedWorkerIsReported(t *testing.T) {
	pod := startPod(t, "demo/a")
	n := startNginx(t, "location / { proxy_pass http://"+pod+"; }")
	r := newRun(t)
	w := WatchWorkers(r.ctx, r.Log, "subject", titled, n.masterPID)
	workers := r.await(w, 0, 2)
	stopped := workers[0].PID
	if err := syscall.Kill(stopped, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	goOn := func() { syscall.Kill(stopped, syscall.SIGCONT) }
	t.Cleanup(goOn)
	c := StartConvergence(r.ctx, r.Log, w, ConvergenceOptions{Address: n.address})
	unreached := func(want int) {
		t.Helper()
		for c.Effort().Unreached != want {
			select {
			case <-r.ctx.Done():
				t.Fatalf("got %+v, want %d not reached", c.Effort(), want)
			case <-time.After(time.Millisecond):
			}
		}
	}
	unreached(1)
	goOn()
	unreached(0)
	r.end(w, c)
}
