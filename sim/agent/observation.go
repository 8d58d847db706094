package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"windtunnel.dev/sim/event"
)

// Observation is the probes of one subject, which an agent beside it runs.
type Observation struct {
	peer    *Peer
	log     *event.Log
	subject string
	at      Answering

	end      context.CancelFunc // stops following the agent's clock
	followed chan struct{}
}

// Answering has the addresses at which an agent reaches nginx and the controller.
type Answering struct {
	HTTP    netip.AddrPort // nginx
	TLS     netip.AddrPort
	Metrics string // URL of the controller's; empty: they are not read
}

// Observe begins to observe the processes beside an agent, which reaches them at the given addresses.
func Observe(ctx context.Context, p *Peer, log *event.Log, subject string, at Answering) (*Observation, error) {
	if err := p.MeasureClock(ctx); err != nil {
		return nil, err
	}
	if err := p.call(ctx, http.MethodPost, "/observe/begin", observeOrder{Subject: subject, Metrics: at.Metrics}, &nothing{}); err != nil {
		return nil, err
	}
	following, end := context.WithCancel(context.WithoutCancel(ctx))
	o := &Observation{peer: p, log: log, subject: subject, at: at, end: end, followed: make(chan struct{})}
	go func() { defer close(o.followed); p.followClock(following) }()
	return o, nil
}

// End ends the observation, and writes what is left of its events to the log.
func (o *Observation) End(ctx context.Context) error {
	o.end()
	<-o.followed
	return o.Gather(ctx)
}

// Gather writes the events so far to the log.
func (o *Observation) Gather(ctx context.Context) error {
	return Gather(ctx, o.log, o.subject, event.ObserverClock, []*Peer{o.peer})
}

// Sample logs a sample of the processes' resource usage.
func (o *Observation) Sample() {
	o.report("usage is not sampled", o.peer.call(context.Background(), http.MethodPost, "/observe/sample", nothing{}, &nothing{}))
}

// Workers returns the PIDs, in the pod, of nginx's serving workers.
func (o *Observation) Workers() []int { return o.state().Workers }

// Processes returns the PIDs, in the pod, of the controller and of nginx's master; 0 for one that does
// not run.
func (o *Observation) Processes() (controller, master int) {
	s := o.state()
	return s.Controller, s.Master
}

func (o *Observation) state() (s processState) {
	o.report("the processes are not seen", o.peer.call(context.Background(), http.MethodGet, "/observe/state", nil, &s))
	return s
}

func (o *Observation) report(what string, err error) {
	if err != nil {
		o.log.Trouble(o.subject, what, err.Error())
	}
}

// Converge begins to ask every worker about changes, and continues until ctx ends.
func (o *Observation) Converge(ctx context.Context) (*Convergence, error) {
	order := roundOrder{HTTP: o.at.HTTP.String(), TLS: o.at.TLS.String()}
	if err := o.peer.call(ctx, http.MethodPost, "/observe/round", order, &nothing{}); err != nil {
		return nil, err
	}
	c := &Convergence{of: o, ctx: ctx, wake: make(chan struct{}, 1), last: make(chan struct{}), sent: make(chan struct{}), done: make(chan struct{})}
	go c.sendAll()
	return c, nil
}

// Convergence asks every worker about every change, through an agent. The agent gets the changes in
// the order of Watch, a moment later.
type Convergence struct {
	of  *Observation
	ctx context.Context

	mu      sync.Mutex
	waiting []event.Change
	unsent  int // those waiting and those in flight
	failed  error

	ended  sync.Once
	effort event.Probe // set once

	wake chan struct{} // signals that changes are waiting
	last chan struct{} // closed by Effort: no more changes come
	sent chan struct{} // closed when no more changes will be sent
	done chan struct{}
}

// Watch has the workers asked about a change.
func (c *Convergence) Watch(change event.Change) {
	if change.Host == "" {
		return
	}
	c.mu.Lock()
	c.waiting = append(c.waiting, change)
	c.unsent++
	c.mu.Unlock()
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// sendAll sends waiting changes until no more come, or until ctx ends.
func (c *Convergence) sendAll() {
	defer close(c.sent)
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-c.last:
			c.send()
			return
		case <-c.wake:
			c.send()
		}
	}
}

// send sends all waiting changes in one request, if there are any.
func (c *Convergence) send() {
	c.mu.Lock()
	batch := c.waiting
	c.waiting = nil
	c.mu.Unlock()
	if len(batch) == 0 {
		return
	}
	err := c.of.peer.call(context.WithoutCancel(c.ctx), http.MethodPost, "/observe/watch", batch, &nothing{})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unsent -= len(batch)
	c.failed = errors.Join(c.failed, err)
}

// pendingEvery is the polling interval for open changes.
const pendingEvery = 20 * time.Millisecond

// Await waits until every worker serves every change. Its errors are those of probe.Convergence.
func (c *Convergence) Await(ctx context.Context) error {
	ticker := time.NewTicker(pendingEvery)
	defer ticker.Stop()
	for {
		open, err := c.pending(ctx)
		switch {
		case err != nil:
			return err
		case open == 0:
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("changes still open: %d: %w", open, context.Cause(ctx))
		case <-ticker.C:
		}
	}
}

// pending returns how many changes some worker does not serve yet.
func (c *Convergence) pending(ctx context.Context) (int, error) {
	c.mu.Lock()
	unsent, failed := c.unsent, c.failed
	c.mu.Unlock()
	if unsent > 0 || failed != nil {
		return unsent, failed
	}
	var s pendingState
	if err := c.of.peer.call(ctx, http.MethodGet, "/observe/pending", nil, &s); err != nil {
		return 0, err
	}
	if s.Open > 0 && s.Off != "" {
		return s.Open, fmt.Errorf("changes still open: %d, and no worker is probed for them: %s", s.Open, s.Off)
	}
	return s.Open, nil
}

// Effort ends the probing and returns its effort. It first sends the waiting changes: if the agent does
// not get them, the effort says so. Effort may be called again.
func (c *Convergence) Effort() event.Probe {
	c.ended.Do(func() {
		close(c.last)
		<-c.sent
		err := c.of.peer.call(context.WithoutCancel(c.ctx), http.MethodPost, "/observe/round-end", nothing{}, &c.effort)
		if err = errors.Join(c.failed, err); err != nil {
			c.effort.Off = err.Error()
		}
		close(c.done)
	})
	return c.effort
}

// Done returns a channel that is closed when Effort has ended the probing.
func (c *Convergence) Done() <-chan struct{} { return c.done }
