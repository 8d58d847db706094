// Package backend is the simulated pods: real listeners on addresses of their
// own, with a life. It stands between the steps of a scenario, which start and
// end pods, and nginx, which sends them requests. Its one rule: a pod does on
// the wire what its state says, and every answer says who gave it.
package backend

import (
	"net/netip"
	"time"
)

// Fleet is the pods of one subject, wherever they run. It is safe for use by
// many goroutines.
type Fleet interface {
	// Start makes a pod in the state Starting: it has an address that no other
	// living pod of the fleet has, and refuses connections. Both name and service
	// are namespace/name. It is an error when a pod of that name lives, when there
	// is no room for it, or after Stop.
	Start(name, service string) (Pod, error)
	// Get returns the pod of that name, unless there is none or it is gone.
	Get(name string) (Pod, bool)
	// Stop ends every pod, cutting answers that are under way, and returns when
	// all sockets are closed.
	Stop()
}

// Pod is one simulated pod. It is safe for use by many goroutines.
type Pod interface {
	// Addr is where the pod listens while it serves.
	Addr() netip.AddrPort
	// StreamAddr is where the pod answers over TCP and UDP while it serves, if its
	// fleet does.
	StreamAddr() netip.AddrPort
	// State is the pod's state now.
	State() State
	// Ready opens the pod's listener. It is an error unless the pod is starting,
	// and when its address cannot be listened on; the pod is as it was then.
	Ready() error
	// Terminate asks the pod to end: it serves for the time of drain, as a pod
	// does whose preStop hook or own shutdown waits, and is gone then. Terminate
	// returns at once. A pod that terminates already, or is gone, goes on as it was.
	Terminate(drain time.Duration)
	// Gone ends the pod now: it closes the listener, the idle connections and those
	// over which nothing ever came, and returns when the answers that were under
	// way are finished, or cut because they took longer than five seconds. Calling
	// it again does nothing.
	Gone()
	// Done is closed when the pod is gone and its last connection closed.
	Done() <-chan struct{}
}
