package observe

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/probe"
)

// Inside observes the processes of the controller and of nginx until ctx ends, and writes the lines of
// an event log. It must run in a container that shares their PID namespace. controller is the PID of the
// controller, or of an init process above it.
func Inside(ctx context.Context, out io.Writer, processes adapter.Processes, controller int) {
	lines := json.NewEncoder(out)
	log := event.NewLog(nowhere{}, time.Now())
	log.Tap(func(e event.Event) { _ = lines.Encode(e) }) // if it cannot be written, nobody reads it
	top, finder := func() (int, error) { return controller, nil }, new(probe.Finder)
	workers := probe.WatchWorkers(ctx, log, subjectName, processes, func() (int, error) { return finder.Master(top, processes) })
	usage := probe.WatchUsage(ctx, log, workers, func() (int, error) { return probe.PastInit(controller), nil })
	<-workers.Done()
	<-usage.Done()
}
