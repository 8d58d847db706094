package backend

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"sync"

	"windtunnel.dev/sim/event"
)

// Options configure the pods of one subject.
type Options struct {
	// Prefix has the pods' addresses. It lies in IPv4 loopback, e.g. 127.64.0.0/14, which
	// has room for BlockPods pods, or in 198.18.0.0/15 if a route makes this machine accept
	// packets for its addresses.
	Prefix netip.Prefix
	Port   int // on which every pod listens, each on its own address
	// StreamPort is the port on which every pod answers over bare TCP and UDP; 0: none does.
	StreamPort int
	Log        *event.Log // gets an event for each state of each pod; nil: no log
	Subject    string     // of those events
	// OwnSockets makes each pod listen on sockets of its own, even if the kernel lets pods share them.
	OwnSockets bool
}

// Loopback is a Fleet whose pods run in this process. It is safe for use by many goroutines.
type Loopback struct {
	options   Options
	addresses addresses
	sockets   sockets

	mu      sync.Mutex
	pods    map[string]*pod // those that are not gone, by name
	ending  map[*pod]bool   // those that are gone, but still finish their last answers
	stopped bool

	recording *Recording // nil: pods do not record
}

// New returns a fleet without pods.
func New(o Options) *Loopback {
	f := &Loopback{options: o, addresses: newAddresses(o.Prefix), pods: map[string]*pod{}, ending: map[*pod]bool{}}
	f.sockets = &chosenSockets{own: lastOf(o.Prefix), tell: f.log, separate: o.OwnSockets}
	return f
}

// Start makes a pod with an address that no other pod of the fleet ever had or will
// have, so an answer from it can only come from that pod.
func (f *Loopback) Start(name, service string) (Pod, error) {
	return f.start(name, service, nil, nil)
}

func (f *Loopback) start(name, service string, script *compiled, further []int) (Pod, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopped {
		return nil, fmt.Errorf("pod %s: cannot start: its fleet has been stopped", name)
	}
	if _, lives := f.pods[name]; lives {
		return nil, fmt.Errorf("pod %s: cannot start: a pod with that name exists", name)
	}
	address, err := f.addresses.next()
	if err != nil {
		return nil, fmt.Errorf("pod %s: cannot start: %w", name, err)
	}
	p := newPod(podContext{f.sockets, f.options.StreamPort, f.log, f.forget}, name, service, netip.AddrPortFrom(address, uint16(f.options.Port)))
	p.further = further
	p.assign(script, f.recording)
	f.pods[name] = p
	p.setState(Starting)
	return p, nil
}

// Get implements Fleet.
func (f *Loopback) Get(name string) (Pod, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p, ok := f.pods[name]; ok {
		return p, true
	}
	return nil, false // a nil *pod would be a Pod
}

// Stop implements Fleet.
func (f *Loopback) Stop() {
	f.mu.Lock()
	f.stopped = true
	left := slices.AppendSeq(slices.Collect(maps.Values(f.pods)), maps.Keys(f.ending))
	f.mu.Unlock()

	for _, p := range left {
		p.cut()
	}
	f.sockets.stop()
}

// forget drops a pod that is gone, so that a long run only uses memory for living
// pods.
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
