package apply

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"windtunnel.dev/controller/conf"
	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/plan"
	"windtunnel.dev/internal/nginxtest"
)

// A reload is complete when all new workers serve, not when the first one serves and the old ones
// drain.
func TestReloadAwaitsAllNewWorkers(t *testing.T) {
	f := newWithLua(t)
	f.reach(f.state("one", "", "[]"))
	old := f.awaitWorkers(2)

	gate := newGate(t)
	next := f.state("two", "", "[]")
	next.Conf = conf.Whole([]byte(strings.Replace(next.Conf.String(), "init_worker_by_lua_file", fmt.Sprintf(
		`init_worker_by_lua_block { if ngx.worker.id() == 1 then io.open("%s"):close() end } #`, gate.path), 1)))
	var opened atomic.Bool
	seen := make(chan bool, 1)
	go func() {
		seen <- f.oneServes(old)
		opened.Store(true)
		gate.open()
	}()
	f.reach(next)
	if !opened.Load() {
		t.Error("the reload returned while a new worker was still starting")
	}
	if !<-seen {
		t.Error("one new worker never served while the other one was starting")
	}
	if now, err := f.target.process.Workers(); err != nil || len(now) < 2 {
		t.Errorf("workers after the reload: %v, %v, want 2", now, err)
	}
}

// When a reload takes too long, its workers may still start. So even a return to the previous
// configuration needs a reload, and all data that Lua received before is sent again.
func TestReloadThatFailsHalfwayIsUndone(t *testing.T) {
	f := newWithLua(t)
	one := f.state("one", reportWorkers, `[{"name": "one"}]`)
	f.reach(one)
	old := f.awaitWorkers(2)

	gate := newGate(t)
	next := f.state("two", reportWorkers, `[{"name": "two"}]`)
	next.Conf = conf.Whole([]byte(strings.Replace(next.Conf.String(), "init_worker_by_lua_file", fmt.Sprintf(
		`init_worker_by_lua_block { if ngx.worker.id() == 1 then io.open("%s"):close() end } #`, gate.path), 1)))
	ctx, giveUp := context.WithCancel(t.Context())
	go func() {
		f.oneServes(old)
		giveUp()
	}()
	if _, err := f.target.Do(ctx, plan.Diff(f.target.Running(), next)); err == nil {
		t.Fatal("the reload succeeded")
	}
	gate.open()

	steps := plan.Diff(f.target.Running(), one)
	if len(steps) != 2 || steps[0].Kind != plan.Reload || steps[1].Kind != plan.PostBackends {
		t.Fatalf("steps back: %+v, want a reload and the backends", steps)
	}
	report := f.reach(one)
	if !report.Reloaded || len(report.Posts) != 1 {
		t.Errorf("report of the way back: %+v", report)
	}
	if steps := plan.Diff(f.target.Running(), one); len(steps) > 0 {
		t.Errorf("more steps: %+v", steps)
	}
}

// awaitWorkers waits until nginx has n workers: a start does not wait for workers that the master
// has yet to fork.
func (f *withLua) awaitWorkers(n int) []nginx.Worker {
	f.Helper()
	tick := time.NewTicker(workerPoll)
	defer tick.Stop()
	for end := time.Now().Add(nginxtest.Patience); ; <-tick.C {
		switch workers, err := f.target.process.Workers(); {
		case err != nil:
			f.Fatal(err)
		case len(workers) == n:
			return workers
		case time.Now().After(end):
			f.Fatalf("workers: %v, want %d", workers, n)
		}
	}
}

// oneServes returns true after it has seen 20 times that one new worker serves, another one is
// starting, and no old one is left.
func (f *withLua) oneServes(old []nginx.Worker) bool {
	isOld := func(w nginx.Worker) bool {
		return slices.ContainsFunc(old, func(o nginx.Worker) bool { return o.PID == w.PID })
	}
	tick := time.NewTicker(workerPoll)
	defer tick.Stop()
	times := 0
	for end := time.Now().Add(nginxtest.Patience); time.Now().Before(end); <-tick.C {
		now, err := f.target.process.Workers()
		starting, startingErr := f.target.process.Starting()
		if err == nil && startingErr == nil && starting && len(now) == 1 && !isOld(now[0]) {
			times++
		}
		if times == 20 {
			return true
		}
	}
	return false
}

// gate is a FIFO: opening the file for reading blocks until open is called.
type gate struct {
	path string
	open func()
}

func newGate(t *testing.T) gate {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gate")
	if err := syscall.Mkfifo(path, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{path, filepath.Dir(path)} { // for nginx's workers
		if err := os.Chmod(name, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	open := sync.OnceFunc(func() {
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { file.Close() })
	})
	t.Cleanup(open)
	return gate{path, open}
}
