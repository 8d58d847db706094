package live

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"windtunnel.dev/sim/backend"
)

// nowhere is the address block for tests of network devices (RFC 2544). The API server accepts
// these addresses, and no network routes to them.
var nowhere = netip.MustParsePrefix("198.18.0.0/15")

// addresses is a fleet of pods without processes: each pod is only an address, where nothing
// answers. It serves users who only want to watch endpoints change.
type addresses struct {
	mu     sync.Mutex
	last   netip.Addr
	byName map[string]*address
	held   map[netip.Addr]bool
}

func newAddresses() *addresses {
	return &addresses{last: nowhere.Addr(), byName: map[string]*address{}, held: map[netip.Addr]bool{}}
}

func (a *addresses) Start(name, _ string) (backend.Pod, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byName[name] != nil {
		return nil, fmt.Errorf("pod %s: cannot start: a pod of that name is running", name)
	}
	for range 1 << (32 - nowhere.Bits()) {
		if a.last = a.last.Next(); !nowhere.Contains(a.last) {
			a.last = nowhere.Addr().Next()
		}
		if !a.held[a.last] {
			a.held[a.last] = true
			p := &address{of: a, name: name, at: a.last, done: make(chan struct{})}
			a.byName[name] = p
			return p, nil
		}
	}
	return nil, fmt.Errorf("pod %s: cannot start: all addresses of %v are in use", name, nowhere)
}

func (a *addresses) Get(name string) (backend.Pod, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if p := a.byName[name]; p != nil {
		return p, true
	}
	return nil, false
}

func (a *addresses) Stop() {}

type address struct {
	of   *addresses
	name string
	at   netip.Addr
	done chan struct{}
}

func (p *address) Addr() netip.AddrPort       { return netip.AddrPortFrom(p.at, 0) }
func (p *address) StreamAddr() netip.AddrPort { return p.Addr() }
func (p *address) Ready() error               { return nil }
func (p *address) Done() <-chan struct{}      { return p.done }

func (p *address) State() backend.State {
	select {
	case <-p.done:
		return backend.Gone
	default:
		return backend.Ready
	}
}

// Terminate removes the pod at once, because it has no requests to finish.
func (p *address) Terminate(time.Duration) { p.Gone() }

func (p *address) Gone() {
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	if p.of.byName[p.name] == p {
		delete(p.of.byName, p.name)
		delete(p.of.held, p.at)
		close(p.done)
	}
}
