package backend

import (
	"errors"
	"net"
	"sync"

	"golang.org/x/sys/unix"
)

// ear is a pod's listener that knows the connections over which nothing has come
// yet. net/http's Shutdown would wait five seconds for their first request.
type ear struct {
	net.Listener

	mu     sync.Mutex
	deaf   bool
	silent map[*heard]bool
}

func newEar(l net.Listener) *ear { return &ear{Listener: l, silent: map[*heard]bool{}} }

// Accept waits for the next connection. One that comes too late to be asked
// anything over is closed.
func (e *ear) Accept() (net.Conn, error) {
	conn, err := e.Listener.Accept()
	if err != nil {
		return nil, err
	}
	h := &heard{Conn: conn, ear: e}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.deaf {
		h.closeIfSilent()
	}
	e.silent[h] = true
	return h, nil
}

// Close may be called again: net/http's Shutdown does where Serve has not noticed yet
// that nobody listens, and would fail, and have answers under way be cut.
func (e *ear) Close() error {
	if err := e.Listener.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// deafen closes the listener and the silent connections, now.
func (e *ear) deafen() {
	e.Close()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.deaf = true
	for h := range e.silent {
		h.closeIfSilent()
	}
}

func (e *ear) forget(h *heard) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.silent, h)
}

// heard is a connection that tells its ear when something came.
type heard struct {
	net.Conn
	ear  *ear
	once sync.Once
}

func (h *heard) Read(b []byte) (int, error) {
	n, err := h.Conn.Read(b)
	h.once.Do(func() { h.ear.forget(h) })
	return n, err
}

func (h *heard) Close() error {
	h.once.Do(func() { h.ear.forget(h) })
	return h.Conn.Close()
}

// closeIfSilent leaves a connection alone whose request waits in the kernel to be
// read: it came in time, and is answered.
func (h *heard) closeIfSilent() {
	raw, err := h.Conn.(*net.TCPConn).SyscallConn()
	if err != nil {
		return // closed already
	}
	waiting := 0
	raw.Control(func(fd uintptr) { waiting, err = unix.IoctlGetInt(int(fd), unix.SIOCINQ) })
	if err == nil && waiting == 0 {
		h.Conn.Close()
	}
}
