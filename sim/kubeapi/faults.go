package kubeapi

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"windtunnel.dev/sim/kubeapi/fault"
)

// faults holds the active injections, in the order in which they began.
type faults struct {
	mu    sync.Mutex
	now   atomic.Pointer[faultSet]
	onHit func(fault.Hit) // called with mu held, so the log has the order of the hits
}

// faultSet is an immutable set of injections, so a request without faults costs one atomic load.
type faultSet struct {
	injections []*injection
	changed    chan struct{} // closed when another set replaces this one
}

// injection is one active fault.
type injection struct {
	fault.Fault
	scope      fault.Scope
	version    uint64        // version of the server when the injection began
	healed     chan struct{} // closed when the injection has ended
	seen, hits int           // guarded by faults.mu
}

func newFaults(onHit func(fault.Hit)) *faults {
	if onHit == nil {
		onHit = func(fault.Hit) {}
	}
	f := &faults{onHit: onHit}
	f.now.Store(&faultSet{changed: make(chan struct{})})
	return f
}

func (f *faults) edit(change func([]*injection) []*injection) {
	f.mu.Lock()
	defer f.mu.Unlock()
	old := f.now.Load()
	f.now.Store(&faultSet{change(slices.Clone(old.injections)), make(chan struct{})})
	close(old.changed)
}

// Inject makes the server fail as f describes, within the scope. It returns when the fault is
// active, unless the scope delays it. stop heals the fault, if it is not healed yet, and returns
// how often it struck: the number of requests, or how often it affected the events of an open
// watch; for a fault of the whole server, the number of watches that it ended.
func (s *Server) Inject(f fault.Fault, scope fault.Scope) (stop func() (struck int), err error) {
	if err := scope.Check(); err != nil {
		return nil, err
	}
	if f.Broken && !s.opts.Broken {
		return nil, fmt.Errorf("kubeapi: no API server does what %s does; start this one with Options.Broken to let it", f.Name)
	}
	in := &injection{Fault: f, scope: scope, healed: make(chan struct{})}
	o := &activation{s: s, in: in}
	if scope.After == 0 {
		return o.stop, o.begin()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.timer = time.AfterFunc(scope.After, func() { o.begin() }) // begin logs its error
	return o.stop, nil
}

// activation is the time during which an injection is active: it begins at most once and ends at
// most once.
type activation struct {
	s       *Server
	in      *injection
	timer   *time.Timer // runs until the beginning, then until the end
	mu      sync.Mutex
	heal    func()
	begun   bool
	ended   bool
	watches int // number of watches that the fault has ended, for a fault of the server as a whole
}

func (o *activation) begin() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return nil
	}
	o.begun = true
	o.in.version = o.s.state.Version()
	var err error
	if o.in.Happen != nil {
		t := &target{s: o.s, scope: o.in.scope}
		o.heal, err = o.in.Happen(t, o.in.scope)
		o.watches = t.watches
		o.s.faults.log(o.in, fault.Request{}, o.in.version, err)
	} else {
		o.s.faults.edit(func(all []*injection) []*injection { return append(all, o.in) })
	}
	if o.in.scope.For > 0 {
		o.timer = time.AfterFunc(o.in.scope.For, o.end)
	}
	return err
}

// stop ends the injection and returns how often it struck.
func (o *activation) stop() int {
	o.end()
	if o.in.Happen != nil {
		return o.watches
	}
	o.s.faults.mu.Lock()
	defer o.s.faults.mu.Unlock()
	return o.in.hits
}

func (o *activation) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return
	}
	o.ended = true
	if o.timer != nil {
		o.timer.Stop()
	}
	if !o.begun {
		return
	}
	close(o.in.healed)
	if o.heal != nil {
		o.heal()
	}
	o.s.faults.edit(func(all []*injection) []*injection {
		return slices.DeleteFunc(all, func(in *injection) bool { return in == o.in })
	})
}

// hits reports whether the fault hits the call, and if so counts and logs the hit.
func (f *faults) hits(in *injection, c *fault.Call, version uint64) bool {
	if !in.scope.Covers(&c.Request) || (in.Applies != nil && !in.Applies(c)) || closed(in.healed) {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	in.seen++
	if in.seen <= in.scope.Skip || (in.scope.Count > 0 && in.hits >= in.scope.Count) {
		return false
	}
	f.record(in, c.Request, version, nil)
	return true
}

func (f *faults) log(in *injection, r fault.Request, version uint64, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.record(in, r, version, err)
}

func (f *faults) record(in *injection, r fault.Request, version uint64, err error) {
	in.hits++
	hit := fault.Hit{Fault: in.Name, Number: in.hits, Time: time.Now(), Version: version, Request: r}
	if err != nil {
		hit.Error = err.Error()
	}
	f.onHit(hit)
}
