package pool

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
	"time"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/event"
)

// pod is a simulated pod that runs in a member of the pool.
type pod struct {
	fleet   *Fleet
	member  *member
	name    string
	service string
	done    chan struct{}

	records bool // whether its process has records to fetch; guarded by records.fetching, as is fetched
	fetched int  // the Seq, in the process, of the last record before the first that is not done

	mu    sync.Mutex
	state backend.State
	drain *time.Timer // nil until Terminate
}

func (p *pod) Done() <-chan struct{} { return p.done }

func (p *pod) Addr() netip.AddrPort {
	return netip.AddrPortFrom(p.member.address, uint16(p.fleet.options.Port))
}

func (p *pod) StreamAddr() netip.AddrPort {
	return netip.AddrPortFrom(p.member.address, uint16(p.fleet.options.StreamPort))
}

func (p *pod) State() backend.State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

func (p *pod) Ready() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state != backend.Starting {
		return fmt.Errorf("pod %s: cannot become ready: it is %s", p.name, p.state)
	}
	if err := p.send("ready", 0); err != nil {
		return fmt.Errorf("pod %s: cannot become ready: %w", p.name, err)
	}
	p.setStateLocked(backend.Ready)
	return nil
}

// Terminate leaves the timing of the drain to the process, so that the pod ends in time even if
// orders are slow; Gone then waits for it.
func (p *pod) Terminate(drain time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.state == backend.Terminating || p.state == backend.Gone {
		return
	}
	p.setStateLocked(backend.Terminating)
	p.drain = time.AfterFunc(drain, p.Gone)
	go func() {
		if err := p.send("terminate", drain); err != nil && p.State() != backend.Gone {
			p.trouble(err)
		}
	}()
}

func (p *pod) Gone() {
	p.mu.Lock()
	if p.state == backend.Gone {
		p.mu.Unlock()
		return
	}
	if p.drain != nil {
		p.drain.Stop()
	}
	p.setStateLocked(backend.Gone)
	p.mu.Unlock()
	p.fleet.forget(p) // outside the lock: a fleet locks its pods, never the other way round
	if err := p.send("gone", 0); err != nil {
		p.trouble(err)
	}
	if err := p.fleet.collectLast(p); err != nil {
		p.trouble(err)
	}
	close(p.done)
	p.fleet.ended(p)
}

// renewLease renews the pod's lease. If the process no longer runs the pod, because it received no
// order for too long or was restarted, the pod is gone for the fleet, too. A pod that has gone in
// the meantime needs no lease.
func (p *pod) renewLease() {
	err := p.fleet.reach.send(p.member, "keep", order{Name: p.name, Lease: p.fleet.options.Lease})
	if err == nil || p.State() == backend.Gone {
		return
	}
	p.trouble(err)
	if errors.Is(err, errRefused) {
		p.Gone()
	}
}

func (p *pod) send(verb string, drain time.Duration) error {
	return p.fleet.reach.send(p.member, verb, order{Name: p.name, Drain: drain})
}

func (p *pod) setState(s backend.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setStateLocked(s)
}

// setStateLocked writes the event while it holds the lock, so that events are in order.
func (p *pod) setStateLocked(s backend.State) {
	p.state = s
	p.fleet.log(event.Event{Pod: &event.Pod{
		Name: p.name, Service: p.service, Address: p.Addr().String(), State: string(s),
	}})
}

func (p *pod) trouble(err error) {
	p.fleet.log(event.Event{Trouble: &event.Trouble{What: "pod " + p.name, Detail: err.Error()}})
}
