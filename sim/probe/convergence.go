package probe

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"windtunnel.dev/sim/event"
)

// Looks are the options of a Convergence.
type Looks struct {
	// Address is where nginx serves HTTP, as host:port.
	Address string
	// Gap is the least time between two requests to a worker. With n open changes, a
	// worker is asked about each of them every n times the longer of Gap and the time of
	// an answer: this is the resolution of convergence. 0: 2 ms, which is at most 500
	// requests/s for each worker, and only while a change is open.
	Gap time.Duration
	// Timeout is how long one answer may take. 0: 5 s.
	Timeout time.Duration
}

// Convergence asks every worker of one subject about every change until the worker serves it. It
// asks each worker over a connection of its own.
type Convergence struct {
	log     *event.Log
	workers *Workers
	looks   Looks
	pool    *pool
	trouble trouble
	done    chan struct{}

	mu      sync.Mutex
	lookers map[int]*looker // by PID
	open    []*progress     // the changes that not every looker has settled on; each looker has its own copy
	changed chan struct{}   // closed when there are fewer open changes
	off     error           // why no worker is asked any more
}

// StartConvergence holds a connection to every active worker until ctx ends. When Done is closed,
// so are all connections.
func StartConvergence(ctx context.Context, log *event.Log, workers *Workers, looks Looks) *Convergence {
	if looks.Gap == 0 {
		looks.Gap = 2 * time.Millisecond
	}
	if looks.Timeout == 0 {
		looks.Timeout = 5 * time.Second
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &Convergence{
		log: log, workers: workers, looks: looks,
		pool:    newPool(ctx, looks.Address, workers),
		trouble: trouble{log: log, subject: workers.subject},
		done:    make(chan struct{}),
		lookers: map[int]*looker{},
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
	p := newProgress(change)
	for _, earlier := range c.open {
		earlier.supersede(change)
	}
	for _, l := range c.lookers {
		for _, earlier := range l.open {
			earlier.supersede(change)
		}
		l.watch(p.again())
	}
	c.open = append(c.open, p)
}

// Pending returns the number of changes that some live worker has not settled on.
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
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.off != nil {
		effort.Off = c.off.Error()
	}
	return effort
}

// Done is closed when no worker is asked any more and all connections are closed.
func (c *Convergence) Done() <-chan struct{} { return c.done }

// Settled waits until every live worker has settled on every change. It returns an error if ctx
// ends before, with the number of open changes, or if no worker is asked any more, with the reason.
func (c *Convergence) Settled(ctx context.Context) error {
	for {
		c.mu.Lock()
		open, changed, off := len(c.open), c.changed, c.off
		c.mu.Unlock()
		switch {
		case open == 0:
			return nil
		case off != nil:
			return fmt.Errorf("changes still open: %d, and no worker is asked about them: %w", open, off)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("changes still open: %d: %w", open, context.Cause(ctx))
		}
	}
}

// run keeps one looker for each worker until ctx ends.
func (c *Convergence) run(ctx context.Context, cancel context.CancelFunc) {
	defer close(c.done)
	var lookers sync.WaitGroup
	for ctx.Err() == nil {
		alive, changed := c.workers.Now()
		for _, l := range c.meet(ctx, alive) {
			lookers.Go(func() { c.end(l, l.run()) })
		}
		select {
		case <-changed:
		case <-c.workers.Done():
			cancel() // nobody knows any more which workers there are
		case <-ctx.Done():
		}
	}
	c.stop(context.Cause(ctx))
	lookers.Wait()
	c.pool.close()
}

// meet starts lookers for new workers, ends those of workers that have gone, and returns the new
// ones.
func (c *Convergence) meet(ctx context.Context, alive []Worker) []*looker {
	c.mu.Lock()
	defer c.mu.Unlock()
	state := make(map[int]event.WorkerState, len(alive))
	var fresh []*looker
	for _, w := range alive {
		state[w.PID] = w.State
		if c.lookers[w.PID] == nil && w.State == event.Active && c.off == nil {
			l := newLooker(ctx, c, w.PID)
			for _, p := range c.open {
				l.watch(p.again())
			}
			c.lookers[w.PID] = l
			fresh = append(fresh, l)
		}
	}
	for pid, l := range c.lookers {
		switch state[pid] {
		case event.Active:
		case event.Draining:
			l.unreachable() // it accepts no new connections
			c.pool.drop(pid)
		default:
			l.gone()
		}
	}
	return fresh
}

// end forgets a worker that no longer answers: it will settle on nothing more.
func (c *Convergence) end(l *looker, err error) {
	l.gone()
	c.pool.drop(l.pid)
	c.mu.Lock()
	delete(c.lookers, l.pid)
	if c.pool.ctx.Err() == nil { // otherwise all lookers are ending, which settles nothing
		c.settle()
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

// settle closes the changes that no looker has open. While there is no worker, every change stays
// open. The caller holds the lock.
func (c *Convergence) settle() {
	before := len(c.open)
	if len(c.lookers) == 0 {
		return
	}
	c.open = slices.DeleteFunc(c.open, func(p *progress) bool {
		for _, l := range c.lookers {
			if l.has(p.change.ID) {
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
