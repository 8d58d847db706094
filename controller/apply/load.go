package apply

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/plan"
)

const (
	// WorkerTimeout bounds the wait for a reload's new workers. It is long because a master with
	// thousands of locations is slow.
	WorkerTimeout = time.Minute
	workerPoll    = 5 * time.Millisecond
)

// load starts or reloads nginx with a configuration. If nginx -t rejects it, everything stays as before,
// except that the tested file remains.
func (t *Target) load(ctx context.Context, next plan.State, report *Report) error {
	var err error
	if process := t.started(); process != nil {
		err = t.replace(ctx, process, next, report)
	} else {
		err = t.first(ctx, next, report)
	}
	if err != nil {
		return err
	}
	return t.discard(t.Running(), next)
}

// first starts nginx. nginx needs seconds to read the configuration of thousands of hosts, so only a
// configuration with which it does not start is tested: the test finds out whether it is at fault.
func (t *Target) first(ctx context.Context, next plan.State, report *Report) error {
	if err := t.write(t.layout.Conf(), next); err != nil {
		return err
	}
	err := t.start(ctx, report)
	if err == nil || ctx.Err() != nil {
		return err
	}
	if rejection := t.testNext(ctx, next, report); rejection != nil {
		return errors.Join(rejection, os.Remove(t.layout.Conf()))
	}
	return err
}

// replace tests a configuration, puts it in place, and reloads nginx.
func (t *Target) replace(ctx context.Context, process *nginx.Process, next plan.State, report *Report) error {
	if err := t.testNext(ctx, next, report); err != nil {
		return err
	}
	if err := os.Rename(t.candidate(), t.layout.Conf()); err != nil {
		return fmt.Errorf("putting the tested configuration in place: %w", err)
	}
	err := t.reload(ctx, process, report)
	if err != nil {
		t.doubt()
	}
	return err
}

// candidate is the file of a configuration that is tested.
func (t *Target) candidate() string { return t.layout.Conf() + ".next" }

// testNext writes and tests the candidate. If the test fails, only the candidate remains.
func (t *Target) testNext(ctx context.Context, next plan.State, report *Report) error {
	began := time.Now()
	err := t.test(ctx, t.candidate(), next)
	report.Phases.Test = time.Since(began)
	if err != nil {
		err = errors.Join(err, t.restore(next))
	}
	return err
}

// doubt records that a reload failed halfway: its workers may still start, so even a return to the
// previous configuration needs a reload.
func (t *Target) doubt() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running.Unsure = true
}

// restore resets the files that nginx reads besides nginx.conf to those of the running state,
// because Lua may reread them at any time.
func (t *Target) restore(tried plan.State) error {
	return errors.Join(t.writeBeside(t.Running()), t.discard(tried, t.Running()))
}

// write writes a configuration and the files beside it.
func (t *Target) write(file string, next plan.State) error {
	if err := WriteText(file, next.Conf); err != nil {
		return err
	}
	return t.writeBeside(next)
}

// writeBeside writes the files that nginx reads besides nginx.conf.
func (t *Target) writeBeside(next plan.State) error {
	if err := t.writeLuaConfig(next.LuaConfig); err != nil {
		return err
	}
	if err := writeTracing(next.Tracing); err != nil {
		return err
	}
	return t.writeSecretFiles(next)
}

// writeLuaConfig writes lua/cfg.json if its content differs. It writes nothing if content is nil.
func (t *Target) writeLuaConfig(content []byte) error {
	path := t.layout.LuaConfig()
	if content == nil {
		return nil
	}
	if present, err := os.ReadFile(path); err == nil && bytes.Equal(present, content) {
		return nil
	}
	return Write(path, content)
}

// start starts nginx and returns when its workers are serving.
func (t *Target) start(ctx context.Context, report *Report) error {
	began := time.Now()
	process, err := t.nginx.Start(ctx, t.layout.Conf(), nginx.Stderr(t.stderr))
	if err != nil {
		return err
	}
	report.Phases.Signal = time.Since(began)
	report.Phases.FirstWorker = report.Phases.Signal
	report.Started = true
	t.mu.Lock()
	t.process = process
	t.mu.Unlock()
	go func() {
		<-process.Done()
		close(t.ended)
	}()
	return nil
}

// reload signals the master. It returns when all new workers are serving and all old ones are
// draining.
func (t *Target) reload(ctx context.Context, process *nginx.Process, report *Report) error {
	before, err := process.Workers()
	if err != nil {
		return err
	}
	began := time.Now()
	if err := process.Reload(ctx); err != nil {
		return err
	}
	signalled := time.Now()
	report.Phases.Signal = signalled.Sub(began)

	ctx, cancel := context.WithTimeoutCause(ctx, WorkerTimeout, fmt.Errorf("timed out after %v", WorkerTimeout))
	defer cancel()
	tick := time.NewTicker(workerPoll)
	defer tick.Stop()
	for {
		now, err := process.Workers()
		if err != nil {
			return err
		}
		starting, err := process.Starting() // must come after Workers; see Starting
		if err != nil {
			return err
		}
		fresh, stale := compare(before, now)
		if fresh > 0 && report.Phases.FirstWorker == 0 {
			report.Phases.FirstWorker = time.Since(signalled)
		}
		if fresh > 0 && stale == 0 && !starting {
			report.Reloaded = true
			t.awaitDrained(process, before, signalled)
			return nil
		}
		select {
		case <-tick.C:
		case <-process.Done():
			return fmt.Errorf("nginx ended while it was reloading: %w", process.Err())
		case <-ctx.Done():
			return fmt.Errorf("waiting for the workers of a reload (nginx's error log says why there are none): %w", context.Cause(ctx))
		}
	}
}

// compare counts the serving workers that are new, and the old ones that are not draining yet. A
// master drains the old workers only after it has forked all new ones, which take a while to start
// serving.
func compare(before, now []nginx.Worker) (fresh, stale int) {
	old := make(map[int]bool, len(before))
	for _, worker := range before {
		old[worker.PID] = true
	}
	for _, worker := range now {
		switch {
		case worker.Draining:
		case old[worker.PID]:
			stale++
		default:
			fresh++
		}
	}
	return fresh, stale
}
