package probe

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/prometheus/procfs"

	"windtunnel.dev/sim/event"
)

const hostEvery = time.Second

// WatchHost logs each second how busy the machine is and how many packets its connection tracking has
// dropped, from /proc, until ctx ends, and once more then. The channel is closed when it has ended.
// Its events belong to no subject.
func WatchHost(ctx context.Context, log *event.Log) (done <-chan struct{}) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		watchHost(ctx, log, procfs.DefaultMountPoint, time.Tick(hostEvery))
	}()
	return ended
}

func watchHost(ctx context.Context, log *event.Log, proc string, ticks <-chan time.Time) {
	trouble := trouble{log: log}
	last, err := sampleHost(proc)
	for err == nil && ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-ticks:
		}
		var now hostSample
		if now, err = sampleHost(proc); err == nil {
			log.Write(event.Event{At: log.Now(), Host: hostBetween(last, now)})
			last = now
		}
	}
	if err != nil {
		trouble.report("the machine's load is not watched", err)
	}
}

// hostSample contains what the kernel has counted since the machine started.
type hostSample struct {
	cpu     procfs.CPUStat
	dropped int // packets, by connection tracking
}

func sampleHost(proc string) (hostSample, error) {
	files, err := procfs.NewFS(proc)
	if err != nil {
		return hostSample{}, err
	}
	stat, err := files.Stat()
	if err != nil {
		return hostSample{}, err
	}
	sample := hostSample{cpu: stat.CPUTotal}
	processors, err := files.ConntrackStat()
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // the file does not exist if the kernel tracks nothing
		return hostSample{}, err
	}
	for _, processor := range processors {
		sample.dropped += int(processor.Drop)
	}
	return sample, nil
}

// hostBetween returns how busy the machine was between two samples. The times of user and nice
// include those of guests (proc_stat(5)).
func hostBetween(last, now hostSample) *event.Host {
	host := &event.Host{Dropped: max(0, now.dropped-last.dropped)} // the kernel's counters are short, so they may start again
	all := func(s procfs.CPUStat) float64 {
		return s.User + s.Nice + s.System + s.Idle + s.Iowait + s.IRQ + s.SoftIRQ + s.Steal
	}
	idle := func(s procfs.CPUStat) float64 { return s.Idle + s.Iowait }
	elapsed := all(now.cpu) - all(last.cpu)
	if elapsed <= 0 {
		return host // less than a tick of any CPU
	}
	share := func(spent float64) float64 { return min(1, max(0, spent/elapsed)) } // iowait may decrease
	host.Busy = share(elapsed - (idle(now.cpu) - idle(last.cpu)))
	host.Stolen = share(now.cpu.Steal - last.cpu.Steal)
	return host
}
