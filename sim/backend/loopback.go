package backend

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"

	"windtunnel.dev/sim/event"
)

// Options say where the pods of one subject live.
type Options struct {
	// Prefix is of IPv4 loopback, e.g. 127.64.0.0/16: room for 65,534 pods. Or it is of
	// 198.18.0.0/15, where a route says that this machine has its addresses.
	Prefix netip.Prefix
	Port   int // every pod listens on it, each on its own address
	// StreamPort is that at which every pod answers over TCP and UDP themselves; 0: none does.
	StreamPort int
	Log        *event.Log // takes an event for each state of each pod; nil: none
	Subject    string     // of those events
}

// Loopback is the pods of one subject in this process. It is safe for use by many goroutines.
type Loopback struct {
	options   Options
	addresses addresses

	mu      sync.Mutex
	pods    map[string]*pod // those that are not gone, by name
	ending  map[*pod]bool   // those that are gone, and finish their last answers
	stopped bool
}

// New returns a fleet without pods.
func New(o Options) *Loopback {
	return &Loopback{options: o, addresses: newAddresses(o.Prefix), pods: map[string]*pod{}, ending: map[*pod]bool{}}
}

// Start makes a pod with an address that no other pod of the fleet ever had or
// will have, so that an answer from it can only be of its pod.
func (f *Loopback) Start(name, service string) (Pod, error) {
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
	p := newPod(home{f.options.StreamPort, f.log, f.forget}, name, service, netip.AddrPortFrom(address, uint16(f.options.Port)))
	f.pods[name] = p
	p.enter(Starting)
	return p, nil
}

// Get is as Fleet says.
func (f *Loopback) Get(name string) (Pod, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p, ok := f.pods[name]; ok {
		return p, true
	}
	return nil, false // a nil *pod would be a Pod
}

// Stop is as Fleet says.
func (f *Loopback) Stop() {
	f.mu.Lock()
	f.stopped = true
	left := slices.AppendSeq(slices.Collect(maps.Values(f.pods)), maps.Keys(f.ending))
	f.mu.Unlock()

	for _, p := range left {
		p.cut()
	}
}

// forget drops a pod that is gone, so that a long run's memory is that of the
// pods that live.
func (f *Loopback) forget(p *pod) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pods[p.name] == p {
		delete(f.pods, p.name)
	}
	f.ending[p] = true
	go func() {
		<-p.done
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.ending, p)
	}()
}

func (f *Loopback) log(e event.Event) {
	if f.options.Log == nil {
		return
	}
	e.At = f.options.Log.Now()
	e.Subject = f.options.Subject
	f.options.Log.Write(e)
}
