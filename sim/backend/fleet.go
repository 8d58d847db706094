// Package backend simulates pods: each listens on its own address, and has a life cycle. It stands
// between the steps of a scenario, which start and end pods, and nginx, which sends requests to
// them. Its one rule: a pod behaves on the wire as its state says, and every answer names the pod
// that gave it.
//
// The pods of a fleet share one socket for each port, if the kernel supports it (package
// sharedlistener). Otherwise each pod has its own sockets, and the limit of open files bounds the
// population: see Need. Pods that answer HTTP in datagrams always have their own UDP socket. In
// both cases the kernel refuses connections to a pod that is starting or gone.
package backend

import (
	"net/netip"
	"time"
)

// Fleet is the set of pods of one subject, wherever they run. It is safe for use by
// many goroutines.
type Fleet interface {
	// Start makes a pod in the state Starting: it has an address that no other living pod of the
	// fleet has, and refuses connections. Both name and service are namespace/name. Start fails if
	// a living pod has that name, if there is no room for the pod, or after Stop.
	Start(name, service string) (Pod, error)
	// Get returns the pod of that name, unless there is none or it is gone.
	Get(name string) (Pod, bool)
	// Stop ends every pod, cuts answers that are under way, and returns when all sockets
	// are closed.
	Stop()
}

// Pod is one simulated pod. It is safe for use by many goroutines.
type Pod interface {
	// Addr returns the address on which the pod listens while it serves.
	Addr() netip.AddrPort
	// StreamAddr returns the address on which the pod answers over bare TCP and UDP
	// while it serves, if its fleet does so.
	StreamAddr() netip.AddrPort
	// State returns the pod's current state.
	State() State
	// Ready opens the pod's listener. It fails if the pod is not starting, or if it
	// cannot listen on its address; then the pod does not change.
	Ready() error
	// Terminate asks the pod to end: it serves for the time of drain, like a pod whose
	// preStop hook or own shutdown waits, and then is gone. Terminate returns at once.
	// It does nothing if the pod is already terminating or gone.
	Terminate(drain time.Duration)
	// Gone ends the pod now: it closes the listener, the idle connections and those over
	// which nothing ever came. It returns when the answers that were under way are
	// complete, or were cut because they took longer than five seconds. Calling it again
	// does nothing.
	Gone()
	// Done is closed when the pod is gone and its last connection is closed.
	Done() <-chan struct{}
}
