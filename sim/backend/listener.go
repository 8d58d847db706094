package backend

import (
	"errors"
	"io"
	"net"
	"sync"

	"golang.org/x/sys/unix"
)

// idleConns are the connections of a pod over which nothing has come yet. net/http's Shutdown would
// wait five seconds for their first request.
type idleConns struct {
	mu      sync.Mutex
	stopped bool
	idle    map[*firstReadConn]bool
}

// add adds a connection to the idle ones, and returns it wrapped. If the connections have been stopped, it
// closes the connection, unless a request has already arrived.
func (i *idleConns) add(conn net.Conn) *firstReadConn {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.addLocked(conn)
}

func (i *idleConns) addLocked(conn net.Conn) *firstReadConn {
	c := &firstReadConn{Conn: conn, among: i}
	if i.stopped {
		c.closeIfIdle()
		return c
	}
	if i.idle == nil {
		i.idle = map[*firstReadConn]bool{}
	}
	i.idle[c] = true
	return c
}

// pass calls serve with the connection, which cannot be stopped meanwhile; serve must return
// quickly. If the connections have been stopped, it resets the connection, as the kernel resets
// unaccepted connections when a listener is closed.
func (i *idleConns) pass(conn net.Conn, serve func(net.Conn)) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stopped {
		breakConnection(conn, Reset)
		return
	}
	serve(i.addLocked(conn))
}

// stop closes the idle connections, and all that are added later.
func (i *idleConns) stop() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.stopped = true
	for c := range i.idle {
		c.closeIfIdle()
	}
}

func (i *idleConns) forget(c *firstReadConn) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.idle, c)
}

// idleListener is a pod's listener with its idle connections.
type idleListener struct {
	net.Listener
	conns idleConns
}

// Accept waits for the next connection.
func (l *idleListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return l.conns.add(conn), nil
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
	l.conns.stop()
}

// firstReadConn is a connection that stops being idle when something comes.
type firstReadConn struct {
	net.Conn
	among *idleConns
	once  sync.Once
}

func (c *firstReadConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.once.Do(func() { c.among.forget(c) })
	return n, err
}

func (c *firstReadConn) Close() error {
	c.once.Do(func() { c.among.forget(c) })
	return c.Conn.Close()
}

// closeIfIdle does nothing if the kernel has unread data of a request: the request came in time,
// and the pod answers it.
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

// oneConn is a listener with one connection, which outlives it.
type oneConn struct {
	net.Conn
	accepted bool
}

func (l *oneConn) Accept() (net.Conn, error) {
	if l.accepted {
		return nil, io.EOF
	}
	l.accepted = true
	return l.Conn, nil
}

// Close does nothing: net/http closes a listener whose Accept fails.
func (l *oneConn) Close() error { return nil }

func (l *oneConn) Addr() net.Addr { return l.LocalAddr() }
