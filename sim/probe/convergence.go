package probe

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"windtunnel.dev/sim/event"
)

// ConvergenceOptions configure a Convergence.
type ConvergenceOptions struct {
	// Address is where nginx serves HTTP, as host:port, and TLS where it serves HTTPS; TLS is needed
	// only for changes of hosts that are asked over HTTPS.
	Address, TLS string
	// Gap is the least time between two turns of a worker. With n open changes, a
	// worker is asked about each of them every n times the longer of Gap and the time of
	// an answer: this is the resolution of convergence. 0: 2 ms, which is at most 500
	// requests/s for each worker, and only while a change is open. Eager requests come on top.
	Gap time.Duration
	// Eager is how long after a change a worker is asked again at once, up to twice, if its answer shows
	// nothing because it comes from a pod that the change does not affect. Later, one more gap does not
	// matter. 0: 50 ms.
	Eager time.Duration
	// Timeout is how long one answer may take. 0: 5 s.
	Timeout time.Duration
}

// Convergence asks every worker of one subject about every change until the worker serves it. It
// asks each worker over a connection of its own.
type Convergence struct {
	log     *event.Log
	workers *Workers
	options ConvergenceOptions
	pool    *pool // of connections to Address
	secured *pool // of connections to TLS
	trouble trouble
	done    chan struct{}

	mu      sync.Mutex
	pollers map[int]*poller // by PID
	open    []*progress     // the changes that some worker does not serve yet; each poller has its own copy
	changed chan struct{}   // closed when there are fewer open changes
	off     error           // why no worker is asked any more
}

// StartConvergence holds a connection to every active worker until ctx ends. When Done is closed,
// so are all connections.
func StartConvergence(ctx context.Context, log *event.Log, workers *Workers, o ConvergenceOptions) *Convergence {
	o.Gap, o.Eager, o.Timeout = cmp.Or(o.Gap, 2*time.Millisecond), cmp.Or(o.Eager, 50*time.Millisecond), cmp.Or(o.Timeout, 5*time.Second)
	ctx, cancel := context.WithCancel(ctx)
	c := &Convergence{
		log: log, workers: workers, options: o,
		pool:    newPool(ctx, o.Address, workers),
		secured: newPool(ctx, o.TLS, workers),
		trouble: trouble{log: log, subject: workers.subject},
		done:    make(chan struct{}),
		pollers: map[int]*poller{},
		changed: make(chan struct{}),
	}
	go c.run(ctx, cancel)
	return c
}

// Watch begins to ask every worker about a change: those alive, and those that start while it is
// open. It ignores a change without a host, for which there is nothing to request. Call it before
// the change is made, so that the old state is observed as well as the new one.
func (c *Convergence) Watch(change event.Change) {
	if change.Host == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	pr := newProgress(change)
	for _, earlier := range c.open {
		earlier.supersede(change)
	}
	for _, p := range c.pollers {
		for _, earlier := range p.open {
			earlier.supersede(change)
		}
		p.watch(pr.forNewWorker())
	}
	c.open = append(c.open, pr)
}

// Pending returns the number of changes that some live worker does not serve yet.
func (c *Convergence) Pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// Effort returns the effort so far: the connections opened, including those that turned out to be
// another worker's; the workers reached and not reached; and why no worker is asked any more, if
// the probe stopped early.
func (c *Convergence) Effort() event.Probe {
	effort := c.pool.effort()
	effort.Connections += c.secured.effort().Connections
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.off != nil {
		effort.Off = c.off.Error()
	}
	return effort
}

// Done is closed when no worker is asked any more and all connections are closed.
func (c *Convergence) Done() <-chan struct{} { return c.done }

// Await waits until every live worker serves every change. It returns an error if ctx
// ends before, with the number of open changes, or if no worker is asked any more, with the reason.
func (c *Convergence) Await(ctx context.Context) error {
	for {
		c.mu.Lock()
		open, changed, off := len(c.open), c.changed, c.off
		c.mu.Unlock()
		switch {
		case open == 0:
			return nil
		case off != nil:
			return fmt.Errorf("changes still open: %d, and no worker is probed for them: %w", open, off)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("changes still open: %d: %w", open, context.Cause(ctx))
		}
	}
}

// run keeps one poller for each worker until ctx ends.
func (c *Convergence) run(ctx context.Context, cancel context.CancelFunc) {
	defer close(c.done)
	var pollers sync.WaitGroup
	for ctx.Err() == nil {
		alive, changed := c.workers.Now()
		for _, p := range c.updatePollers(ctx, alive) {
			pollers.Go(func() { c.removePoller(p, p.run()) })
		}
		select {
		case <-changed:
		case <-c.workers.Done():
			cancel() // the workers are no longer known
		case <-ctx.Done():
		}
	}
	c.stop(context.Cause(ctx))
	pollers.Wait()
	c.pool.close()
	c.secured.close()
}

// updatePollers starts pollers for new workers, ends those of workers that have gone, and returns
// the new ones.
func (c *Convergence) updatePollers(ctx context.Context, alive []Worker) []*poller {
	c.mu.Lock()
	defer c.mu.Unlock()
	state := make(map[int]event.WorkerState, len(alive))
	var fresh []*poller
	for _, w := range alive {
		state[w.PID] = w.State
		if c.pollers[w.PID] == nil && w.State == event.Active && c.off == nil {
			p := newPoller(ctx, c, w.PID)
			for _, pr := range c.open {
				p.watch(pr.forNewWorker())
			}
			c.pollers[w.PID] = p
			fresh = append(fresh, p)
		}
	}
	for pid, p := range c.pollers {
		switch state[pid] {
		case event.Active:
		case event.Draining:
			p.unreachable() // it accepts no new connections
			c.pool.drop(pid)
			c.secured.drop(pid)
		default:
			p.gone()
		}
	}
	return fresh
}

// removePoller forgets a worker that no longer answers: no change waits for it any more.
func (c *Convergence) removePoller(p *poller, err error) {
	p.gone()
	c.pool.drop(p.pid)
	c.secured.drop(p.pid)
	c.mu.Lock()
	delete(c.pollers, p.pid)
	if c.pool.ctx.Err() == nil { // otherwise all pollers are ending, and nothing has converged
		c.closeConverged()
	}
	c.mu.Unlock()
	if err != nil {
		c.trouble.report("convergence is not measured", err)
		c.stop(err)
	}
}

// stop records why no worker is asked any more.
func (c *Convergence) stop(why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.off == nil {
		c.off = why
		close(c.changed)
		c.changed = make(chan struct{})
	}
}

// closeConverged closes the changes that no poller has open. While there is no worker, every change
// stays open. The caller holds the lock.
func (c *Convergence) closeConverged() {
	before := len(c.open)
	if len(c.pollers) == 0 {
		return
	}
	c.open = slices.DeleteFunc(c.open, func(pr *progress) bool {
		for _, p := range c.pollers {
			if p.isOpen(pr.change.ID) {
				return false
			}
		}
		return true
	})
	if len(c.open) < before {
		close(c.changed)
		c.changed = make(chan struct{})
	}
}
