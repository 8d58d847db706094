package probe

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"windtunnel.dev/sim/event"
)

// poller asks one worker about the open changes, in turn: over one connection, and over one for each
// host that is asked over HTTPS.
type poller struct {
	c   *Convergence
	pid int

	ctx   context.Context // while the worker lives
	gone  context.CancelFunc
	reach context.Context // while the worker accepts new connections
	// unreachable ends reach.
	unreachable context.CancelFunc
	wake        chan struct{} // something is open

	secured map[string]*connection // over TLS, by host

	// Guarded by the lock of c.
	open []*progress
	next int // index of the change whose turn it is
}

func newPoller(ctx context.Context, c *Convergence, pid int) *poller {
	p := &poller{c: c, pid: pid, wake: make(chan struct{}, 1), secured: map[string]*connection{}}
	p.ctx, p.gone = context.WithCancel(ctx)
	p.reach, p.unreachable = context.WithCancel(p.ctx)
	return p
}

// run asks until the worker can no longer be asked. It returns an error if no worker can ever be
// asked.
func (p *poller) run() error {
	var conn *connection
	defer func() {
		if conn != nil {
			conn.Close()
		}
		p.closeSecured()
	}()
	pace := time.NewTimer(0)
	defer pace.Stop()
	for {
		if conn == nil {
			var err error
			if conn, err = p.c.pool.take(p.reach, p.pid); err != nil {
				return permanent(err)
			}
		}
		select {
		case <-pace.C:
		case <-p.ctx.Done():
			return nil
		}
		about := p.awaitDue(conn)
		if about == nil {
			return nil
		}
		pace.Reset(p.c.options.Gap)
		if about[0].change.TLS {
			p.pollSecured(about)
			continue
		}
		if usable := p.poll(conn, about); !usable {
			conn.Close()
			conn = nil
		}
	}
}

// mostSecured limits the connections over TLS to a worker.
const mostSecured = 64

// pollSecured asks once over TLS. If the worker ends before there is a connection, there is no answer.
func (p *poller) pollSecured(about []*progress) {
	host := about[0].change.Host
	conn := p.secured[host]
	if conn == nil {
		opened, err := p.c.secured.take(p.reach, p.pid)
		if err != nil {
			return
		}
		sent := time.Now()
		if conn, err = opened.secure(p.ctx, host, p.c.options.Timeout); err != nil {
			if p.ctx.Err() == nil && !isClosed(err) {
				p.answer(about, answer{}, err, sent)
			}
			return
		}
		if len(p.secured) == mostSecured {
			p.closeSecured()
		}
		p.secured[host] = conn
	}
	if usable := p.poll(conn, about); !usable {
		conn.Close()
		delete(p.secured, host)
	}
}

// isClosed reports whether a peer closed the connection, as nginx may do with one that waited unused.
func isClosed(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

func (p *poller) closeSecured() {
	for _, conn := range p.secured {
		conn.Close()
	}
	clear(p.secured)
}

// permanent returns nil for errors that are caused by the end of the worker or of the run.
func permanent(err error) error {
	if errors.Is(err, os.ErrPermission) {
		return err
	}
	return nil
}

// mostRepeats limits how often a poll repeats a request at once. It is enough to get answers from
// all pods of a small service.
const mostRepeats = 2

// poll asks, and logs the answer for each change that it is about. If the answer shows nothing
// about new changes, it asks about them again at once; see ConvergenceOptions.Eager. It returns
// whether the connection can be used again. If nginx closed the connection between two requests,
// there is no answer.
func (p *poller) poll(conn *connection, about []*progress) bool {
	for range 1 + mostRepeats {
		sent := time.Now()
		a, err := conn.get(about[0].change.Host, about[0].change.Path, p.c.options.Timeout)
		if errors.Is(err, errClosed) || p.ctx.Err() != nil {
			return false
		}
		unshown := p.answer(about, a, err, sent)
		if err != nil || a.last {
			return false
		}
		about = slices.DeleteFunc(unshown, func(pr *progress) bool { return sent.Sub(pr.since) > p.c.options.Eager })
		if len(about) == 0 {
			break
		}
	}
	return true
}

// answer logs an answer, or an error instead, for each change that it is about, and records it. It
// returns the open changes about which the answer shows nothing.
func (p *poller) answer(about []*progress, a answer, err error, sent time.Time) (unshown []*progress) {
	took := time.Since(sent)
	for _, pr := range about {
		p.c.log.Write(event.Event{At: p.c.log.At(sent.Add(took)), Subject: p.c.workers.subject, Answer: a.event(p.pid, pr.change, took, err)})
	}
	return p.record(about, a, err)
}

// manyRequests is half of the number of requests after which nginx closes a connection by default
// (keepalive_requests).
const manyRequests = 500

// awaitDue returns the next open change, together with all others of the same route: if each had a
// turn of its own, it might only see every other pod of a worker that uses round-robin. It waits
// until there is a change. It returns nil if the worker has gone, or drains with nothing left to
// ask. Before it waits, it prepares the successor of a connection that may end soon.
func (p *poller) awaitDue(conn *connection) []*progress {
	for {
		p.c.mu.Lock()
		about := p.due()
		p.c.mu.Unlock()
		if len(about) > 0 {
			return about
		}
		if conn.requests >= manyRequests {
			p.c.pool.prepare(p.pid)
		}
		select {
		case <-p.wake:
		case <-p.reach.Done():
			return nil
		}
	}
}

// due returns the open changes of the next turn. The caller holds the lock.
func (p *poller) due() []*progress {
	if len(p.open) == 0 {
		return nil
	}
	p.next = (p.next + 1) % len(p.open)
	due := p.open[p.next].change
	var about []*progress
	for _, pr := range p.open {
		if sameRoute(pr.change, due) {
			about = append(about, pr)
		}
	}
	return about
}

// record records an answer, and closes the changes that the worker serves. It returns those about which
// the answer shows nothing.
func (p *poller) record(about []*progress, a answer, err error) (unshown []*progress) {
	p.c.mu.Lock()
	defer p.c.mu.Unlock()
	for _, pr := range about {
		if err != nil {
			pr.clean = 0
			continue
		}
		switch {
		case pr.record(a):
			p.close(pr)
		case !pr.shownBy(a):
			unshown = append(unshown, pr)
		}
	}
	p.c.closeConverged()
	return unshown
}

// close removes a change from the turns. The caller holds the lock.
func (p *poller) close(pr *progress) {
	i := slices.Index(p.open, pr)
	p.open = slices.Delete(p.open, i, i+1)
	if i <= p.next {
		p.next-- // the changes after it moved up
	}
}

// watch opens a change for this worker. The caller holds the lock.
func (p *poller) watch(pr *progress) {
	p.open = append(p.open, pr)
	select {
	case p.wake <- struct{}{}:
	default: // it is already awake
	}
}

// isOpen reports whether a change is open for this worker. The caller holds the lock.
func (p *poller) isOpen(id int) bool {
	return slices.ContainsFunc(p.open, func(pr *progress) bool { return pr.change.ID == id })
}
