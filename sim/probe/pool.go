package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"windtunnel.dev/sim/event"
)

// How connections are found. The kernel chooses the worker that accepts a connection: with
// reuseport at random, otherwise usually a worker that is already waiting. Opening several
// connections at once keeps that worker busy, so that others wake up as well.
const (
	dialsAtOnce        = 8
	maxSpares          = 2                      // for each worker
	minRoundInterval   = 5 * time.Millisecond   // doubled after each unsuccessful round
	maxRoundInterval   = 200 * time.Millisecond // up to this
	maxFailedRounds    = 20                     // unsuccessful rounds before it counts as trouble
	acceptTimeout      = time.Second            // a round gives up after this
	acceptPollInterval = time.Millisecond       // between two checks whether it is accepted
)

// pool opens connections to one address until there is one for each worker. It keeps none open to a
// draining worker: nginx closes idle connections only if they have carried a request, so an unused
// one would keep the worker alive.
type pool struct {
	ctx     context.Context
	address string
	workers *Workers
	trouble *trouble
	opened  atomic.Int64

	round     sync.Mutex     // held while dialling: one round serves all callers that wait
	preparing sync.WaitGroup // see prepare

	mu      sync.Mutex
	spares  map[int][]*connection
	reached map[int]bool // workers to which there was a connection
	sought  map[int]bool // workers to which no connection was found for so long that it counts as trouble
	ahead   bool         // prepare opens connections
}

func newPool(ctx context.Context, address string, workers *Workers) *pool {
	return &pool{
		ctx: ctx, address: address, workers: workers,
		trouble: &trouble{log: workers.log, subject: workers.subject},
		spares:  map[int][]*connection{}, reached: map[int]bool{}, sought: map[int]bool{},
	}
}

// effort returns the effort so far.
func (p *pool) effort() event.Probe {
	p.mu.Lock()
	defer p.mu.Unlock()
	effort := event.Probe{Connections: int(p.opened.Load()), Workers: len(p.reached)}
	for _, w := range p.workers.Alive() {
		if w.State == event.Active && p.sought[w.PID] && !p.reached[w.PID] {
			effort.Unreached++
		}
	}
	return effort
}

// take returns a connection to that worker. It tries until it has one, ctx ends, or it turns out
// that we may not look at the processes.
func (p *pool) take(ctx context.Context, pid int) (*connection, error) {
	wait := minRoundInterval
	for round := 1; ctx.Err() == nil; round++ {
		conn, err := p.try(pid)
		if conn != nil || err != nil {
			return conn, err
		}
		if round == maxFailedRounds {
			p.mu.Lock()
			p.sought[pid] = true
			p.mu.Unlock()
			p.trouble.report("a worker is not probed: no connection to "+p.address+" reaches it", fmt.Errorf("worker %d, %d connections tried", pid, round*dialsAtOnce))
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
			wait = min(2*wait, maxRoundInterval)
		}
	}
	return nil, context.Cause(ctx)
}

// prepare opens a round of connections in the background if there is no spare connection for a
// worker. Then take need not open any while a change is open.
func (p *pool) prepare(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ahead || len(p.spares[pid]) > 0 {
		return
	}
	p.ahead = true
	p.preparing.Go(func() {
		p.round.Lock()
		_ = p.open() // take returns the error
		p.round.Unlock()
		p.mu.Lock()
		p.ahead = false
		p.mu.Unlock()
	})
}

// try takes a spare, or opens a round of connections first.
func (p *pool) try(pid int) (*connection, error) {
	if conn := p.spare(pid); conn != nil {
		return conn, nil
	}
	p.round.Lock()
	defer p.round.Unlock()
	if conn := p.spare(pid); conn != nil {
		return conn, nil
	}
	err := p.open()
	return p.spare(pid), err
}

// open opens a round of connections, finds their owners, and keeps them as spares. It returns an error
// if we may not look at the processes. The caller holds round.
func (p *pool) open() error {
	var pids []int
	for _, w := range p.workers.Alive() {
		pids = append(pids, w.PID)
	}
	var failed error
	deadline := time.Now().Add(acceptTimeout)
	for _, conn := range p.dial() {
		owner, err := p.awaitOwner(conn, pids, deadline)
		if errors.Is(err, os.ErrPermission) {
			failed = fmt.Errorf("finding the worker of a connection: %w", err)
		}
		if err != nil || !p.keep(conn, owner) {
			conn.Close()
		}
	}
	return failed
}

// keep keeps a connection as a spare for its worker, if the worker can use it.
func (p *pool) keep(conn net.Conn, pid int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	active := slices.ContainsFunc(p.workers.Alive(), func(w Worker) bool { return w.PID == pid && w.State == event.Active })
	if !active || len(p.spares[pid]) >= maxSpares {
		return false
	}
	p.spares[pid] = append(p.spares[pid], newConnection(p.ctx, conn))
	return true
}

func (p *pool) spare(pid int) *connection {
	p.mu.Lock()
	defer p.mu.Unlock()
	spares := p.spares[pid]
	if len(spares) == 0 {
		return nil
	}
	p.spares[pid] = spares[1:]
	p.reached[pid] = true
	return spares[0]
}

// dial opens a round of connections at once. It leaves out those that fail: nginx may be down for a
// moment, and the caller tries again.
func (p *pool) dial() []net.Conn {
	dialer := net.Dialer{Timeout: acceptTimeout}
	conns := make([]net.Conn, dialsAtOnce)
	var all sync.WaitGroup
	for i := range conns {
		all.Go(func() { conns[i], _ = dialer.DialContext(p.ctx, "tcp", p.address) })
	}
	all.Wait()
	open := conns[:0]
	for _, conn := range conns {
		if conn != nil {
			p.opened.Add(1)
			open = append(open, conn)
		}
	}
	return open
}

// drop closes the spares of a worker that drains or has gone.
func (p *pool) drop(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.spares[pid] {
		conn.Close()
	}
	delete(p.spares, pid)
}

// awaitOwner waits until nginx has accepted the connection. It has to poll, because no byte is
// exchanged.
func (p *pool) awaitOwner(conn net.Conn, pids []int, deadline time.Time) (int, error) {
	for ; ; time.Sleep(acceptPollInterval) {
		pid, err := Owner(conn, pids)
		if !errors.Is(err, ErrNotAccepted) || p.ctx.Err() != nil || time.Now().After(deadline) {
			return pid, err
		}
	}
}

// close closes all spares. ctx has ended.
func (p *pool) close() {
	p.preparing.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, spares := range p.spares {
		for _, conn := range spares {
			conn.Close()
		}
	}
	clear(p.spares)
}
