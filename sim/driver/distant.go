package driver

import (
	"context"
	"net/netip"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/traffic"
)

// Distant is an instance on other machines, where this process cannot see its processes. An
// observer beside them does.
type Distant interface {
	Instance
	// Observe begins to observe the subject's processes. The events enter the log of the run when
	// the observer's Gather is called, and when the instance stops.
	Observe(ctx context.Context) (Observer, error)
	// Generators returns the generators of the subject's requests; nil: the harness sends them.
	Generators() Generators
	// Inside returns the addresses of nginx for the generators: HTTP, HTTPS and Options.Streams.
	Inside() (http, tls netip.AddrPort, streams []netip.AddrPort)
}

// Observer runs the probes of a distant subject.
type Observer interface {
	// Sample samples the resource usage of the processes at once.
	Sample()
	// Workers returns the PIDs of the serving workers, as seen on their machine.
	Workers() []int
	// Converge begins to ask every worker about changes, until ctx ends.
	Converge(ctx context.Context) (Convergence, error)
	// Gather writes the events so far to the log.
	Gather(ctx context.Context) error
}

// Convergence asks every worker about changes. probe.Convergence is an implementation.
type Convergence interface {
	Watch(change event.Change)
	Await(ctx context.Context) error
	Effort() event.Probe
	Done() <-chan struct{}
}

// Generators send the requests of a round from elsewhere.
type Generators interface {
	// Begin makes them send requests from a common time on, and returns this time of the log.
	Begin(ctx context.Context, orders []traffic.Order) (start time.Duration, err error)
	// End stops them, and writes their events to the log, or that some events are missing.
	End(ctx context.Context) error
}
