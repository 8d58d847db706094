package traffic

import (
	"sync"
	"syscall"
)

// pool keeps connections that have nothing to do, to one address. The last one
// put is the first one got, as in http.Transport.
type pool struct {
	limit int

	mu     sync.Mutex
	idle   []*connection
	closed bool
}

// get returns a connection that is still open as far as can be seen, or nil.
func (p *pool) get() *connection {
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
		if c.quiet() {
			return c
		}
		c.Close()
	}
}

func (p *pool) put(c *connection) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed || len(p.idle) >= p.limit {
		c.Close()
		return
	}
	p.idle = append(p.idle, c)
}

func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, c := range p.idle {
		c.Close()
	}
	p.idle = nil
}

// quiet says that nothing has arrived on an idle connection: no data, which
// nobody asked for, no FIN and no RST. A client that sends on a connection
// whose FIN it has already got has only itself to blame for the failure; what
// is left after this look is the race that no client can win.
func (c *connection) quiet() bool {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	quiet := false
	err = raw.Read(func(fd uintptr) bool {
		var one [1]byte
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		quiet = err == syscall.EAGAIN
		return true
	})
	return err == nil && quiet
}
