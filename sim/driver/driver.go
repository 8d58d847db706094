// Package driver defines the interface of the places where subjects run: local processes, a
// container, or a cluster. Each place is a driver in its own folder; the run uses only this
// interface. Its one rule: a scenario behaves the same with every driver, except for features that
// a driver reports as unsupported.
package driver

import (
	"context"
	"net/netip"

	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/fault"
	"windtunnel.dev/sim/subject"
)

// Driver runs subjects in one kind of environment.
type Driver interface {
	// Name returns the driver's name on the command line.
	Name() string
	// Prepare gives a subject its own empty API server and a fleet without pods. It does not start
	// the controller. Stop of the instance removes everything Prepare created. If the driver cannot
	// run the subject, Prepare returns the error of SupportsSubject.
	Prepare(ctx context.Context, s subject.Subject, in Options) (Instance, error)
}

// Options are the settings of one instance of a run.
type Options struct {
	Index int        // of the subject in the run, from 0; addresses and ports depend on it
	Dir   string     // for files that are kept after the run: logs, the last nginx.conf
	Log   *event.Log // for events of the subject's processes
	// Streams are the services that nginx must serve over plain TCP and UDP, as
	// namespace/name:port.
	Streams []string
	// Namespaces are those that objects of the run are in, without duplicates; that of the population
	// comes first.
	Namespaces []string
	// Pods is how many pods start in the run, at most, if each starts once. Drivers whose pods are real
	// ones need as many.
	Pods int
}

// StreamPort is the port on which the pods of every driver answer over plain TCP and UDP, if
// Options.Streams has any services.
const StreamPort = 8081

// KilledAtEnd is the trouble of a controller that Stop had to kill.
const KilledAtEnd = "the controller did not end in time and was killed"

// Instance is one subject, in the place where it runs.
type Instance interface {
	// Access is what faults act on. The harness itself sends its requests through API.
	fault.Access
	// API returns the configuration of clients of its API server.
	API() *rest.Config
	// Setup returns the adapter, expanded for the subject.
	Setup() *adapter.Setup
	// Pods returns its simulated pods.
	Pods() backend.Fleet
	// Launch starts the controller, which starts nginx. It returns when the controller reports that
	// it is healthy.
	Launch(ctx context.Context) error
	// Address returns the address of nginx for HTTP.
	Address() netip.AddrPort
	// TLS returns the address of nginx for HTTPS.
	TLS() netip.AddrPort
	// Streams returns the addresses of nginx for Options.Streams, in their order. Each is both a
	// TCP and a UDP address.
	Streams() []netip.AddrPort
	// Healthy checks the controller's health endpoint once, as a kubelet does. It returns nil if
	// the controller is healthy.
	Healthy(ctx context.Context) error
	// Revive starts the controller again after it has ended by itself or was killed, as a kubelet
	// restarts a container: processes that it left behind end first. It returns like Launch. After
	// it, Died returns another channel.
	Revive(ctx context.Context) error
	// Died returns a channel that is closed when the controller has ended. Then Err returns how.
	Died() <-chan struct{}
	Err() error
	// Stop ends everything that the instance started: gracefully until ctx ends, then by force. It
	// leaves no process behind.
	Stop(ctx context.Context) error
}

// Files is an Instance whose nginx may write its files where this process can read them.
type Files interface {
	// FileRoot returns the folder below which the paths of nginx's files are, such as
	// var/log/nginx/access.log; empty if this process cannot read them.
	FileRoot() string
}
