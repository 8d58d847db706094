package traffic

import (
	"slices"
	"sync"
	"syscall"
)

// idlePool keeps the idle connections to one address. It is last in, first out, like that of
// http.Transport.
type idlePool struct {
	limit int
	check bool // whether get asks the system about each connection

	mu     sync.Mutex
	idle   []*connection
	closed bool
}

// get returns a connection that still seems open, or nil.
func (p *idlePool) get() *connection {
	for {
		p.mu.Lock()
		last := len(p.idle) - 1
		if last < 0 {
			p.mu.Unlock()
			return nil
		}
		c := p.idle[last]
		p.idle = p.idle[:last]
		p.mu.Unlock()
		if !p.check || c.quiet() {
			return c
		}
		c.Close()
	}
}

func (p *idlePool) put(c *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle) >= p.limit {
		c.Close()
		return
	}
	p.idle = append(p.idle, c)
}

// drop closes a connection that the server has ended, unless it is in use: then its user notices.
func (p *idlePool) drop(c *connection) {
	p.mu.Lock()
	i := slices.Index(p.idle, c)
	if i >= 0 {
		p.idle = slices.Delete(p.idle, i, i+1)
	}
	p.mu.Unlock()
	if i >= 0 {
		c.socket.over.Store(true)
		c.Close()
	}
}

func (p *idlePool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, c := range p.idle {
		c.Close()
	}
	p.idle = nil
}

// quiet reports that nothing has arrived on an idle connection: no unrequested data, no FIN and no
// RST. A client that sends on a connection after it received a FIN causes the failure itself. After
// this check, only the race that no client can win remains.
func (c *connection) quiet() bool {
	raw, err := c.socket.SyscallConn()
	if err != nil {
		return false
	}
	quiet := false
	err = raw.Read(func(fd uintptr) bool {
		var one [1]byte
		n, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		quiet = err == syscall.EAGAIN
		if err == nil && n == 0 || err == syscall.ECONNRESET {
			c.socket.over.Store(true)
		}
		return true
	})
	return err == nil && quiet
}
