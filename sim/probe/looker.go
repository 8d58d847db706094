package probe

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"windtunnel.dev/sim/event"
)

// looker asks one worker about the open changes, in turn, over one connection.
type looker struct {
	c   *Convergence
	pid int

	ctx   context.Context // while the worker lives
	gone  context.CancelFunc
	reach context.Context // while the worker accepts new connections
	// unreachable ends reach.
	unreachable context.CancelFunc
	wake        chan struct{} // something is open

	// Guarded by the lock of c.
	open []*progress
	next int // index of the change whose turn it is
}

func newLooker(ctx context.Context, c *Convergence, pid int) *looker {
	l := &looker{c: c, pid: pid, wake: make(chan struct{}, 1)}
	l.ctx, l.gone = context.WithCancel(ctx)
	l.reach, l.unreachable = context.WithCancel(l.ctx)
	return l
}

// run asks until the worker can no longer be asked. It returns an error if no worker can ever be
// asked.
func (l *looker) run() error {
	var conn *connection
	defer func() {
		if conn != nil {
			conn.Close()
		}
	}()
	pace := time.NewTimer(0)
	defer pace.Stop()
	for {
		if conn == nil {
			var err error
			if conn, err = l.c.pool.take(l.reach, l.pid); err != nil {
				return serious(err)
			}
		}
		select {
		case <-pace.C:
		case <-l.ctx.Done():
			return nil
		}
		about := l.turn()
		if about == nil {
			return nil
		}
		pace.Reset(l.c.looks.Gap)
		if usable := l.look(conn, about); !usable {
			conn.Close()
			conn = nil
		}
	}
}

// serious returns nil for errors that are caused by the end of the worker or of the run.
func serious(err error) error {
	if errors.Is(err, os.ErrPermission) {
		return err
	}
	return nil
}

// look asks once, and logs the answer for each change that it is about. It returns whether the
// connection can be used again. If nginx closed the connection between two requests, there is no
// answer.
func (l *looker) look(conn *connection, about []*progress) bool {
	sent := time.Now()
	a, err := conn.get(about[0].change.Host, about[0].change.Path, l.c.looks.Timeout)
	if errors.Is(err, errClosed) || l.ctx.Err() != nil {
		return false
	}
	took := time.Since(sent)
	for _, p := range about {
		log := event.Answer{
			Worker: l.pid, Change: p.change.ID, Service: p.change.Service,
			Pod: a.pod, Served: a.service, Status: a.status, Took: took,
		}
		if err != nil {
			log.Error = err.Error()
		}
		l.c.log.Write(event.Event{At: l.c.log.At(sent.Add(took)), Subject: l.c.workers.subject, Answer: &log})
	}
	l.heard(about, a, err)
	return err == nil && !a.last
}

// turn returns the next open change, with all others of the same route: if each had a turn of its
// own, it could see only every other pod of a worker that uses round-robin. It waits until there is
// a change. It returns nil if the worker has gone, or drains with nothing left to ask.
func (l *looker) turn() []*progress {
	for {
		l.c.mu.Lock()
		about := l.about()
		l.c.mu.Unlock()
		if len(about) > 0 {
			return about
		}
		select {
		case <-l.wake:
		case <-l.reach.Done():
			return nil
		}
	}
}

// about returns the open changes of the next turn. The caller holds the lock.
func (l *looker) about() []*progress {
	if len(l.open) == 0 {
		return nil
	}
	l.next = (l.next + 1) % len(l.open)
	due := l.open[l.next].change
	var about []*progress
	for _, p := range l.open {
		if p.change.Host == due.Host && p.change.Path == due.Path {
			about = append(about, p)
		}
	}
	return about
}

// heard records an answer, and closes the changes on which the worker has settled.
func (l *looker) heard(about []*progress, a answer, err error) {
	l.c.mu.Lock()
	defer l.c.mu.Unlock()
	for _, p := range about {
		if err != nil {
			p.clean = 0
			continue
		}
		if p.see(a) {
			l.close(p)
		}
	}
	l.c.settle()
}

// close removes a change from the turns. The caller holds the lock.
func (l *looker) close(p *progress) {
	i := slices.Index(l.open, p)
	l.open = slices.Delete(l.open, i, i+1)
	if i <= l.next {
		l.next-- // the changes after it moved up
	}
}

// watch opens a change for this worker. The caller holds the lock.
func (l *looker) watch(p *progress) {
	l.open = append(l.open, p)
	select {
	case l.wake <- struct{}{}:
	default: // it is already awake
	}
}

// has reports whether a change is open for this worker. The caller holds the lock.
func (l *looker) has(id int) bool {
	return slices.ContainsFunc(l.open, func(p *progress) bool { return p.change.ID == id })
}
