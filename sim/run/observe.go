package run

import (
	"context"

	"windtunnel.dev/sim/driver"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/probe"
)

// observe observes the subject's processes until run ends: from this process or, if they are
// distant, through an observer beside them.
func (r *rig) observe(ctx, run context.Context) (driver.Observer, error) {
	if distant, ok := r.instance.(driver.Distant); ok {
		return distant.Observe(ctx)
	}
	workers := probe.WatchWorkers(run, r.log, r.name, r.instance.Setup().Processes, r.instance.Master)
	if url := r.instance.Setup().Metrics; url != "" {
		probe.WatchMemory(run, r.log, r.name, url)
	}
	usage := probe.WatchUsage(run, r.log, workers, func() (int, error) { return r.instance.Controller(), nil })
	return &local{rig: r, workers: workers, usage: usage}, nil
}

// local observes processes of this machine. Its events are in the log at once.
type local struct {
	rig     *rig
	workers *probe.Workers
	usage   *probe.Usage
}

func (l *local) Sample()                      { l.usage.Sample() }
func (l *local) Gather(context.Context) error { return nil }

func (l *local) Workers() []int {
	var serving []int
	for _, w := range l.workers.Alive() {
		if w.State == event.Active {
			serving = append(serving, w.PID)
		}
	}
	return serving
}

func (l *local) Converge(ctx context.Context) (driver.Convergence, error) {
	at := l.rig.instance
	return probe.StartConvergence(ctx, l.rig.log, l.workers, probe.ConvergenceOptions{Address: at.Address().String(), TLS: at.TLS().String()}), nil
}
