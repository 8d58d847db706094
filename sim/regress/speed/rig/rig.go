// Package rig measures one side of a comparison on a real nginx, with real requests. It stands
// between a running nginx and the comparison. Its one rule: every figure comes from the kernel, a
// clock or a socket; a figure that none of them shows is omitted, with the reason.
package rig

import (
	"context"
	"fmt"
	"syscall"
	"time"

	"github.com/prometheus/procfs"

	"windtunnel.dev/sim/regress/speed"
)

// Reloading says how long the parts of a reload took, the latter two counted from the signal.
type Reloading struct {
	Test, FirstWorker time.Duration
	LastWorker        time.Duration // 0: the Lua code does not report what workers serve
}

// Program is a side with a running nginx.
type Program interface {
	// Render renders the cluster once and returns the size of nginx.conf in bytes.
	Render() (int, error)
	// Reload reloads nginx with the same configuration.
	Reload(context.Context) (Reloading, error)
	// Workers returns the PIDs of the workers that accept connections.
	Workers() ([]int, error)
}

// Rig implements speed.Side.
type Rig struct {
	Program   Program
	HTTP, TLS string // nginx's addresses
	Targets   []Target
	Requests  int // for each target and measurement
}

// Measure implements speed.Side.
func (r *Rig) Measure(ctx context.Context) (speed.Round, error) {
	round := speed.Round{Values: map[string]float64{}, Invisible: map[string]string{}, Failed: map[string]string{}}
	if err := r.render(round); err != nil {
		return round, err
	}
	if err := r.reload(ctx, round); err != nil {
		return round, err
	}
	workers, err := r.Program.Workers()
	if err != nil {
		return round, err
	}
	if pss, err := workerPSS(workers); err != nil {
		round.Invisible["worker-memory"] = err.Error() // without permission, the kernel does not report it
	} else {
		round.Values["worker-memory"] = pss
	}
	for _, t := range r.Targets {
		name := "request-cpu-" + t.Kind
		cost, err := r.cost(ctx, t, workers)
		switch {
		case ctx.Err() != nil:
			return round, ctx.Err()
		case err != nil:
			round.Failed[name] = err.Error()
		default:
			round.Values[name] = cost
		}
	}
	return round, nil
}

func (r *Rig) render(round speed.Round) error {
	cpu, started := ownCPU(), time.Now()
	size, err := r.Program.Render()
	round.Values["render-time"], round.Values["render-cpu"] = time.Since(started).Seconds(), (ownCPU() - cpu).Seconds()
	round.Values["conf-size"] = float64(size)
	return err
}

func (r *Rig) reload(ctx context.Context, round speed.Round) error {
	reload, err := r.Program.Reload(ctx)
	if err != nil {
		return fmt.Errorf("reloading: %w", err)
	}
	round.Values["test-time"], round.Values["first-worker"] = reload.Test.Seconds(), reload.FirstWorker.Seconds()
	if reload.LastWorker == 0 {
		round.Invisible["last-worker"] = "the Lua code of a side does not report what its workers serve"
	} else {
		round.Values["last-worker"] = reload.LastWorker.Seconds()
	}
	return nil
}

// ownCPU returns the CPU time of this process, which renders.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// workerPSS returns the mean proportional memory of processes, in bytes.
func workerPSS(pids []int) (float64, error) {
	sum := 0.0
	for _, pid := range pids {
		proc, err := procfs.NewProc(pid)
		if err != nil {
			return 0, err
		}
		rollup, err := proc.ProcSMapsRollup()
		if err != nil {
			return 0, err
		}
		sum += float64(rollup.Pss)
	}
	return sum / float64(len(pids)), nil
}

// cpuOf returns the CPU time of processes with one thread each. The scheduler counts nanoseconds, where
// utime and stime are in ticks.
func cpuOf(pids []int) (time.Duration, error) {
	var sum time.Duration
	for _, pid := range pids {
		proc, err := procfs.NewProc(pid)
		if err != nil {
			return 0, err
		}
		stat, err := proc.Schedstat()
		if err != nil {
			return 0, err
		}
		sum += time.Duration(stat.RunningNanoseconds) //nolint:gosec // far below the limit
	}
	return sum, nil
}
