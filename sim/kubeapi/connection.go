package kubeapi

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// connections holds the open connections of a server, each with a number.
type connections struct {
	mu     sync.Mutex
	last   uint64
	ending bool              // new connections are closed at once
	open   map[net.Conn]bool // whether a request has begun on it
}

// connection is the connection of a request.
type connection struct {
	number uint64
	conn   net.Conn
}

type connectionKey struct{}

func (c *connections) add(ctx context.Context, conn net.Conn) context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = map[net.Conn]bool{}
	}
	c.last++
	c.open[conn] = false
	return context.WithValue(ctx, connectionKey{}, connection{c.last, conn})
}

func (c *connections) trackState(conn net.Conn, state http.ConnState) {
	if state == http.StateIdle {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch state {
	case http.StateNew:
		if c.ending {
			conn.Close()
		}
	case http.StateActive:
		c.open[conn] = true
	case http.StateClosed, http.StateHijacked:
		delete(c.open, conn)
	}
}

// begin and end are called when the server starts and stops. end closes the
// connections that have carried no request, because net/http would wait five seconds for one.
func (c *connections) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = false
}

func (c *connections) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ending = true
	for conn, asked := range c.open {
		if !asked {
			conn.Close()
		}
	}
}

// reset resets all connections, as a crash does: the clients get a RST.
func (c *connections) reset() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.open {
		abort(conn)
		conn.Close()
	}
}

// connectionOf returns the connection of a request, or the zero value if it has none.
func connectionOf(req *http.Request) connection {
	c, _ := req.Context().Value(connectionKey{}).(connection)
	return c
}

// reset aborts a request. Over HTTP/1.1 the client gets a RST. Over HTTP/2, where other requests
// share the connection, only its stream is reset. reset does not return.
func reset(req *http.Request) {
	if c := connectionOf(req); req.ProtoMajor == 1 && c.conn != nil {
		abort(c.conn)
	}
	panic(http.ErrAbortHandler)
}

// abort makes the next close of the connection send a RST.
func abort(conn net.Conn) {
	for over, ok := conn.(interface{ NetConn() net.Conn }); ok; over, ok = conn.(interface{ NetConn() net.Conn }) { // TLS
		conn = over.NetConn()
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
}
