package backend

import (
	"errors"
	"net"
	"sync"

	"golang.org/x/sys/unix"
)

// idleListener is a pod's listener that knows the connections over which nothing has come yet.
// net/http's Shutdown would wait five seconds for their first request.
type idleListener struct {
	net.Listener

	mu      sync.Mutex
	stopped bool
	idle    map[*firstReadConn]bool
}

func newIdleListener(l net.Listener) *idleListener {
	return &idleListener{Listener: l, idle: map[*firstReadConn]bool{}}
}

// Accept waits for the next connection. It closes one that comes when the listener has stopped,
// unless a request has come with it.
func (l *idleListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &firstReadConn{Conn: conn, listener: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopped {
		c.closeIfIdle()
	}
	l.idle[c] = true
	return c, nil
}

// Close may be called twice. net/http's Shutdown calls it again if Serve has not yet noticed that
// the listener is closed; an error would make Shutdown fail and cut answers that are under way.
func (l *idleListener) Close() error {
	if err := l.Listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// stop closes the listener and the idle connections, now.
func (l *idleListener) stop() {
	l.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopped = true
	for c := range l.idle {
		c.closeIfIdle()
	}
}

func (l *idleListener) forget(c *firstReadConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.idle, c)
}

// firstReadConn is a connection that tells its listener when something came.
type firstReadConn struct {
	net.Conn
	listener *idleListener
	once     sync.Once
}

func (c *firstReadConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.once.Do(func() { c.listener.forget(c) })
	return n, err
}

func (c *firstReadConn) Close() error {
	c.once.Do(func() { c.listener.forget(c) })
	return c.Conn.Close()
}

// closeIfIdle does nothing if a request waits in the kernel to be read: it came in time, and the
// pod answers it.
func (c *firstReadConn) closeIfIdle() {
	raw, err := c.Conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return // closed already
	}
	waiting := 0
	raw.Control(func(fd uintptr) { waiting, err = unix.IoctlGetInt(int(fd), unix.SIOCINQ) })
	if err == nil && waiting == 0 {
		c.Conn.Close()
	}
}
