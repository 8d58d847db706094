package backend

import (
	"context"
	"net"
	"sync"
)

// silentServer accepts connections, and neither reads from them nor answers.
type silentServer struct {
	mu     sync.Mutex
	conns  []net.Conn
	closed bool
}

func (s *silentServer) Serve(l net.Listener) error {
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		s.keep(conn)
	}
}

// keep keeps a connection open until the server is closed.
func (s *silentServer) keep(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		conn.Close()
		return
	}
	s.conns = append(s.conns, conn)
}

// Shutdown is Close, because there are no answers to complete.
func (s *silentServer) Shutdown(context.Context) error { return s.Close() }

func (s *silentServer) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, conn := range s.conns {
		conn.Close()
	}
	s.conns = nil
	return nil
}
