package backend

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"maps"
	"net"
	"net/http"
	"net/http/fcgi"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// fastcgiServer serves FastCGI with net/http/fcgi, and adds what that lacks: all parameters of a
// request, the end of its context with its connection, and a shutdown that completes answers.
type fastcgiServer struct {
	handler http.Handler

	mu       sync.Mutex
	conns    map[*fastcgiConn]bool
	stopping bool
	ended    chan struct{} // closed when there are no connections after Shutdown
}

func newFastCGIServer(handler http.Handler) *fastcgiServer {
	return &fastcgiServer{handler: handler, conns: map[*fastcgiConn]bool{}, ended: make(chan struct{})}
}

func (s *fastcgiServer) Serve(l net.Listener) error {
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		conn := &fastcgiConn{Conn: c, server: s}
		conn.living, conn.end = context.WithCancel(context.WithValue(context.Background(), http.LocalAddrContextKey, c.LocalAddr()))
		s.mu.Lock()
		s.conns[conn] = true
		s.mu.Unlock()
		fcgi.Serve(&oneConn{Conn: conn}, conn) // it returns when it has the connection
	}
}

// Shutdown closes each connection when it has no request. Its caller has closed the listeners.
func (s *fastcgiServer) Shutdown(ctx context.Context) error {
	for _, c := range s.stop() {
		c.closeIfUnused()
	}
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stop makes the server accept nothing more, and returns the open connections.
func (s *fastcgiServer) stop() []*fastcgiConn {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopping = true
	s.endLocked()
	return slices.Collect(maps.Keys(s.conns))
}

// Close closes all connections.
func (s *fastcgiServer) Close() error {
	for _, c := range s.stop() {
		c.Close()
	}
	return nil
}

func (s *fastcgiServer) forget(c *fastcgiConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	s.endLocked()
}

func (s *fastcgiServer) endLocked() {
	if !s.stopping || len(s.conns) > 0 {
		return
	}
	select {
	case <-s.ended:
	default:
		close(s.ended)
	}
}

func (s *fastcgiServer) isStopping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopping
}

// fastcgiConn is a connection over which a client sends one request after another. It also parses the
// records that pass through it.
type fastcgiConn struct {
	net.Conn
	server *fastcgiServer
	living context.Context // ends with the connection
	end    context.CancelFunc

	mu       sync.Mutex
	unread   []byte // the beginning of a record
	encoded  []byte // the parameters of the last request
	requests int    // that are not answered
	keep     bool   // the client closes the connection
	held     []byte // the record that ends the only request
}

// The types of records that matter here, and the length of their header (FastCGI 1.0, section 8).
const (
	fcgiBegin  = 1
	fcgiEnd    = 3
	fcgiParams = 4
	fcgiHeader = 8
)

// The position of the flags in a record that begins a request, and the flag that means that the client
// closes the connection (FastCGI 1.0, section 5.1).
const (
	fcgiFlags    = fcgiHeader + 2
	fcgiKeepConn = 1
)

func (c *fastcgiConn) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.unread = append(c.unread, into[:n]...)
	for len(c.unread) >= fcgiHeader {
		content := fcgiHeader + int(binary.BigEndian.Uint16(c.unread[4:]))
		next := content + int(c.unread[6]) // the padding
		if len(c.unread) < next {
			break
		}
		switch c.unread[1] {
		case fcgiBegin:
			c.requests++
			c.encoded = nil
			c.keep = content > fcgiFlags && c.unread[fcgiFlags]&fcgiKeepConn != 0
		case fcgiParams:
			c.encoded = append(c.encoded, c.unread[fcgiHeader:content]...)
		}
		c.unread = c.unread[next:]
	}
	return n, err
}

// Write gets one record at a time from package fcgi.
func (c *fastcgiConn) Write(record []byte) (int, error) {
	if c.hold(record) {
		return len(record), nil // package fcgi calls Close next
	}
	n, err := c.Conn.Write(record)
	if len(record) >= fcgiHeader && record[1] == fcgiEnd {
		c.mu.Lock()
		c.requests = max(c.requests-1, 0) // an aborted request is ended twice
		c.mu.Unlock()
		if c.server.isStopping() {
			c.closeIfUnused()
		}
	}
	return n, err
}

// hold keeps the record that ends the only request of a connection until it is closed, and reports
// whether the record is one.
func (c *fastcgiConn) hold(record []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keep || len(record) < fcgiHeader || record[1] != fcgiEnd || c.requests == 0 {
		return false
	}
	c.held, c.requests = slices.Clone(record), 0
	return true
}

func (c *fastcgiConn) closeIfUnused() {
	c.mu.Lock()
	unused := c.requests == 0
	c.mu.Unlock()
	if unused {
		c.Close()
	}
}

// Close sends the held record in the same segment as the FIN. nginx keeps a connection when it gets that
// record, even if it has asked for the connection to be closed, and a FIN that comes later may cross
// with its next request.
func (c *fastcgiConn) Close() error {
	c.mu.Lock()
	held := c.held
	c.held = nil
	c.mu.Unlock()
	var unsent error
	if held != nil {
		cork(c.Conn)
		_, unsent = c.Conn.Write(held)
	}
	c.end()
	err := c.Conn.Close()
	c.server.forget(c)
	return cmp.Or(err, unsent)
}

// cork delays what is written to a connection until more is written or the connection ends: TCP_CORK
// of tcp(7).
func cork(conn net.Conn) {
	raw, ok := innermost(conn).(*net.TCPConn)
	if !ok {
		return
	}
	control, err := raw.SyscallConn()
	if err != nil {
		return // it is closed
	}
	control.Control(func(fd uintptr) { unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_CORK, 1) })
}

// ServeHTTP serves a request of the connection. Package fcgi lets no handler panic.
func (c *fastcgiConn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		e := recover()
		if err, ok := e.(error); ok && errors.Is(err, http.ErrAbortHandler) {
			c.Close()
		} else if e != nil {
			panic(e)
		}
	}()
	c.server.handler.ServeHTTP(w, r.WithContext(context.WithValue(c.living, connKey{}, net.Conn(c))))
}

// params returns the parameters of the last request.
func (c *fastcgiConn) params() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	params, rest := map[string]string{}, c.encoded
	for {
		name, value, after, ok := nextParam(rest)
		if !ok {
			return params
		}
		params[name], rest = value, after
	}
}

// nextParam splits a name-value pair off (FastCGI 1.0, section 3.4).
func nextParam(b []byte) (name, value string, rest []byte, ok bool) {
	var lengths [2]int
	for i := range lengths {
		switch {
		case len(b) > 0 && b[0] < 0x80:
			lengths[i], b = int(b[0]), b[1:]
		case len(b) > 3:
			lengths[i], b = int(binary.BigEndian.Uint32(b)&0x7fffffff), b[4:]
		default:
			return "", "", nil, false
		}
	}
	if lengths[0]+lengths[1] > len(b) {
		return "", "", nil, false
	}
	value, rest = string(b[lengths[0]:lengths[0]+lengths[1]]), b[lengths[0]+lengths[1]:]
	return string(b[:lengths[0]]), value, rest, true
}
