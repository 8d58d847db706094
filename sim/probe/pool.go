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

// How connections are sought. The kernel chooses the worker that accepts one: at
// random with reuseport, else mostly the one that waits already. Several at once
// keep that one busy, so that others are woken too.
const (
	dialsAtOnce  = 8
	sparesKept   = 2                      // for each worker
	roundsEvery  = 5 * time.Millisecond   // doubled after each round in vain …
	roundsRarest = 200 * time.Millisecond // … up to this
	roundsInVain = 20                     // before it counts as trouble
	acceptWithin = time.Second            // a round is given up after this
	acceptLooks  = time.Millisecond       // between two looks at whether it is accepted
)

// pool opens connections to one address until there is one for each worker. It
// keeps nothing open to a worker that drains: nginx ends idle connections only
// once they have carried a request, so a fresh one would keep the worker alive.
type pool struct {
	ctx     context.Context
	address string
	workers *Workers
	vain    *trouble
	opened  atomic.Int64

	round sync.Mutex // held while dialling: one round serves all who wait

	mu      sync.Mutex
	spares  map[int][]*connection
	reached map[int]bool // workers that a connection was had of
	sought  map[int]bool // workers of which none could be had for so long that it counts as trouble
}

func newPool(ctx context.Context, address string, workers *Workers) *pool {
	return &pool{
		ctx: ctx, address: address, workers: workers,
		vain:   &trouble{log: workers.log, subject: workers.subject},
		spares: map[int][]*connection{}, reached: map[int]bool{}, sought: map[int]bool{},
	}
}

// effort is what it took so far.
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

// take returns a connection of that worker's. It goes on trying until it has one
// or ctx ends, or the processes cannot be looked into at all.
func (p *pool) take(ctx context.Context, pid int) (*connection, error) {
	wait := roundsEvery
	for round := 1; ctx.Err() == nil; round++ {
		conn, err := p.try(pid)
		if conn != nil || err != nil {
			return conn, err
		}
		if round == roundsInVain {
			p.mu.Lock()
			p.sought[pid] = true
			p.mu.Unlock()
			p.vain.report("a worker is not asked: no connection to "+p.address+" reaches it", fmt.Errorf("worker %d, %d connections tried", pid, round*dialsAtOnce))
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
			wait = min(2*wait, roundsRarest)
		}
	}
	return nil, context.Cause(ctx)
}

// try takes a spare, or opens a round of connections and sees whose they are.
func (p *pool) try(pid int) (*connection, error) {
	p.round.Lock()
	defer p.round.Unlock()
	if conn := p.spare(pid); conn != nil {
		return conn, nil
	}
	var pids []int
	for _, w := range p.workers.Alive() {
		pids = append(pids, w.PID)
	}
	var failed error
	deadline := time.Now().Add(acceptWithin)
	for _, conn := range p.dial() {
		owner, err := awaitOwner(conn, pids, deadline)
		if errors.Is(err, os.ErrPermission) {
			failed = fmt.Errorf("telling which worker has a connection: %w", err)
		}
		if err != nil || !p.keep(conn, owner) {
			conn.Close()
		}
	}
	return p.spare(pid), failed
}

// keep puts a connection by for its worker, if that is of use.
func (p *pool) keep(conn net.Conn, pid int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	active := slices.ContainsFunc(p.workers.Alive(), func(w Worker) bool { return w.PID == pid && w.State == event.Active })
	if !active || len(p.spares[pid]) >= sparesKept {
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

// dial opens a round of connections at once. Those that fail are left out: nginx
// may be down for the moment, and whoever needs one tries again.
func (p *pool) dial() []net.Conn {
	dialer := net.Dialer{Timeout: acceptWithin}
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

// drop closes what is kept for a worker that drains or has gone.
func (p *pool) drop(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, conn := range p.spares[pid] {
		conn.Close()
	}
	delete(p.spares, pid)
}

// awaitOwner gives nginx the time to accept. Nothing says when it does: no byte
// is exchanged.
func awaitOwner(conn net.Conn, pids []int, deadline time.Time) (int, error) {
	for ; ; time.Sleep(acceptLooks) {
		pid, err := Owner(conn, pids)
		if !errors.Is(err, ErrNotAccepted) || time.Now().After(deadline) {
			return pid, err
		}
	}
}

// close closes what is kept for anybody.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, spares := range p.spares {
		for _, conn := range spares {
			conn.Close()
		}
	}
	clear(p.spares)
}
