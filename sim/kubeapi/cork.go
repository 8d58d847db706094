package kubeapi

import (
	"net"
	"sync"
)

// corkListener accepts connections that can be corked.
type corkListener struct{ net.Listener }

func (l corkListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &corkConn{Conn: conn}, nil
}

// corkConn gathers what is written while it is corked, to write it at once:
// net/http writes a chunk in three parts, and each would be a system call, a packet
// and a waking of the reader.
type corkConn struct {
	net.Conn
	mu     sync.Mutex
	corked bool
	held   []byte
}

func (c *corkConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.corked {
		c.held = append(c.held, b...)
		return len(b), nil
	}
	return c.Conn.Write(b)
}

// NetConn is the connection below.
func (c *corkConn) NetConn() net.Conn { return c.Conn }

func (c *corkConn) cork() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.corked = true
}

// uncork writes what was gathered.
func (c *corkConn) uncork() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.corked = false
	if len(c.held) == 0 {
		return nil
	}
	_, err := c.Conn.Write(c.held)
	c.held = c.held[:0]
	return err
}

// corkOf is the connection of a request that has it for itself, nil for the others.
func corkOf(conn net.Conn, protoMajor int) *corkConn {
	if protoMajor != 1 {
		return nil
	}
	for {
		switch under := conn.(type) {
		case *corkConn:
			return under
		case interface{ NetConn() net.Conn }: // TLS
			conn = under.NetConn()
		default:
			return nil
		}
	}
}
