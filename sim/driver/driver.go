// Package driver says what it takes to run a subject somewhere: as local
// processes, in a container, in a cluster. It stands between the run, which
// knows no place, and the places, one folder each. Its one rule: a scenario
// cannot tell which driver runs it, but by what the driver says it cannot do.
package driver

import (
	"context"
	"net/netip"

	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/subject"
)

// Driver is a place where subjects run.
type Driver interface {
	// Name is what the command line calls it.
	Name() string
	// Prepare gives a subject its own API server and room for pods, empty,
	// with no controller yet. What it made, Stop of the instance unmakes. Of a
	// subject that it cannot run, the error is that of Takes.
	Prepare(ctx context.Context, s subject.Subject, in Room) (Instance, error)
}

// Room is what an instance may use.
type Room struct {
	Index int        // of the subject in the run, from 0: keeps addresses apart
	Dir   string     // for what is to be kept: logs, the last nginx.conf
	Log   *event.Log // what happens to the subject's processes
	// Streams are the services that nginx must serve over TCP and UDP
	// themselves, as namespace/name:port.
	Streams []string
}

// StreamPort is the port at which the pods of every driver answer over TCP and
// UDP themselves, if Room.Streams asks for any.
const StreamPort = 8081

// Instance is one subject in its place.
type Instance interface {
	// Place is what faults can break. The harness's requests come through API.
	fault.Place
	// API reaches its API server.
	API() *rest.Config
	// Pods are its simulated pods.
	Pods() backend.Fleet
	// Launch starts the controller, which starts nginx. It returns when the
	// controller says that it serves, not before.
	Launch(ctx context.Context) error
	// Address is where clients reach nginx over HTTP.
	Address() netip.AddrPort
	// TLS is where they reach it over HTTPS.
	TLS() netip.AddrPort
	// Streams are where they reach Room.Streams, in their order, over TCP and
	// UDP alike.
	Streams() []netip.AddrPort
	// Healthy is nil while the controller says that it is well, as a kubelet asks.
	Healthy(ctx context.Context) error
	// Revive starts the controller again after it has ended by itself or was
	// killed, as a kubelet does with a container: what it left behind ends first. It
	// returns as Launch does; Died is another channel then.
	Revive(ctx context.Context) error
	// Died is closed when the controller ended by itself; Err says how.
	Died() <-chan struct{}
	Err() error
	// Stop ends all that the instance started, gracefully within ctx, and
	// leaves no process behind even after it.
	Stop(ctx context.Context) error
}
