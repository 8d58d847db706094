// Package backend is the simulated pods: real listeners on loopback addresses
// of their own, with a life. It stands between the steps of a scenario, which
// start and end pods, and nginx, which sends them requests. Its one rule: a pod
// does on the wire what its state says, and every answer says who gave it.
package backend

import (
	"fmt"
	"net/netip"
	"sync"

	"windtunnel.dev/sim/event"
)

// Options say where the pods of one subject live.
type Options struct {
	Prefix netip.Prefix // of IPv4 loopback, e.g. 127.64.0.0/16: room for 65,534 pods
	Port   int          // every pod listens on it, each on its own address
	// StreamPort is that at which every pod answers over TCP and UDP themselves; 0: none does.
	StreamPort int
	Log        *event.Log // takes an event for each state of each pod; nil: none
	Subject    string     // of those events
}

// Fleet is the pods of one subject. It is safe for use by many goroutines.
type Fleet struct {
	options   Options
	addresses addresses

	mu      sync.Mutex
	pods    map[string]*Pod // those that are not gone, by name
	stopped bool
}

// New returns a fleet without pods.
func New(o Options) *Fleet {
	return &Fleet{options: o, addresses: newAddresses(o.Prefix), pods: map[string]*Pod{}}
}

// Start makes a pod in the state Starting: it has an address that no other pod
// of the fleet ever had or will have, and refuses connections. Both name and
// service are namespace/name. It is an error when a pod of that name lives,
// when no address is left, or after Stop.
func (f *Fleet) Start(name, service string) (*Pod, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return nil, fmt.Errorf("pod %s: cannot start: its fleet has been stopped", name)
	}
	if _, lives := f.pods[name]; lives {
		return nil, fmt.Errorf("pod %s: cannot start: a pod of that name lives", name)
	}
	address, err := f.addresses.next()
	if err != nil {
		return nil, fmt.Errorf("pod %s: cannot start: %w", name, err)
	}
	pod := newPod(f, name, service, netip.AddrPortFrom(address, uint16(f.options.Port)))
	f.pods[name] = pod
	pod.enter(Starting)
	return pod, nil
}

// Get returns the pod of that name, unless there is none or it is gone.
func (f *Fleet) Get(name string) (*Pod, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	pod, ok := f.pods[name]
	return pod, ok
}

// Stop ends every pod, cutting answers that are under way, and returns when
// all sockets are closed.
func (f *Fleet) Stop() {
	f.mu.Lock()
	f.stopped = true
	living := make([]*Pod, 0, len(f.pods))
	for _, pod := range f.pods {
		living = append(living, pod)
	}
	f.mu.Unlock()

	for _, pod := range living {
		pod.cut()
	}
}

// forget drops a pod that is gone, so that a long run's memory is that of the
// pods that live.
func (f *Fleet) forget(p *Pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pods[p.name] == p {
		delete(f.pods, p.name)
	}
}

func (f *Fleet) log(e event.Event) {
	if f.options.Log == nil {
		return
	}
	e.At = f.options.Log.Now()
	e.Subject = f.options.Subject
	f.options.Log.Write(e)
}
