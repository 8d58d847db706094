package probe

import (
	"context"
	"time"

	"github.com/prometheus/procfs"

	"windtunnel.dev/sim/event"
)

const hostEvery = time.Second

// WatchHost logs each second how busy the machine is, from /proc/stat, until ctx ends. The channel
// is closed when it has ended. Its events belong to no subject.
func WatchHost(ctx context.Context, log *event.Log) (done <-chan struct{}) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		watchHost(ctx, log, time.Tick(hostEvery))
	}()
	return ended
}

func watchHost(ctx context.Context, log *event.Log, ticks <-chan time.Time) {
	trouble := trouble{log: log}
	last, err := cpuTimes()
	for err == nil {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		var now procfs.CPUStat
		if now, err = cpuTimes(); err == nil {
			log.Write(event.Event{At: log.Now(), Host: hostBetween(last, now)})
			last = now
		}
	}
	trouble.report("the machine's load is not watched", err)
}

func cpuTimes() (procfs.CPUStat, error) {
	fs, err := procfs.NewDefaultFS()
	if err != nil {
		return procfs.CPUStat{}, err
	}
	stat, err := fs.Stat()
	return stat.CPUTotal, err
}

// hostBetween returns how busy the machine was between two samples. The times of user and nice
// include those of guests (proc_stat(5)).
func hostBetween(last, now procfs.CPUStat) *event.Host {
	all := func(s procfs.CPUStat) float64 {
		return s.User + s.Nice + s.System + s.Idle + s.Iowait + s.IRQ + s.SoftIRQ + s.Steal
	}
	idle := func(s procfs.CPUStat) float64 { return s.Idle + s.Iowait }
	elapsed := all(now) - all(last)
	if elapsed <= 0 {
		return &event.Host{} // less than a tick of any CPU
	}
	share := func(spent float64) float64 { return min(1, max(0, spent/elapsed)) } // iowait may decrease
	return &event.Host{
		Busy:   share(elapsed - (idle(now) - idle(last))),
		Stolen: share(now.Steal - last.Steal),
	}
}
