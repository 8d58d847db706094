package backend

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync/atomic"
)

// newScriptedServer returns a server that speaks the script's protocol only.
func newScriptedServer(p *pod, script *compiled) server {
	switch script.protocol {
	case FastCGI:
		return newFastCGIServer(p)
	case Silent:
		return &silentServer{}
	case UDP:
		return newDatagramServer(p)
	}
	s := newHTTPServer(p)
	s.TLSConfig = script.tls
	s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(context.WithValue(ctx, connKey{}, c), requestsKey{}, new(atomic.Int64))
	}
	switch script.protocol {
	case HTTPS:
		s.Protocols.SetHTTP1(true)
		s.Protocols.SetHTTP2(true)
	case GRPC:
		s.Protocols.SetUnencryptedHTTP2(true)
	case GRPCS:
		s.Protocols.SetHTTP2(true)
	default:
		s.Protocols.SetHTTP1(true)
	}
	if script.tls != nil {
		return tlsServer{s}
	}
	return s
}

// tlsServer is a server over TLS.
type tlsServer struct{ *http.Server }

func (s tlsServer) Serve(l net.Listener) error { return s.ServeTLS(l, "", "") }

// connKey is the key of a request's connection in its context.
type connKey struct{}

// requestsKey is the key of the number of requests so far over a request's connection, in its
// context.
type requestsKey struct{}

// connOf returns the connection of a request at a pod with a script; nil at others.
func connOf(r *http.Request) net.Conn {
	conn, _ := r.Context().Value(connKey{}).(net.Conn)
	return conn
}

// breakConnection ends a connection below TLS, without an alert.
func breakConnection(c net.Conn, how Break) {
	tcp, ok := innermost(c).(*net.TCPConn)
	if !ok {
		return
	}
	if how == Reset {
		tcp.SetLinger(0) // SO_LINGER with no time makes Close send an RST: socket(7)
	}
	tcp.Close()
}

// innermost returns the connection that others wrap.
func innermost(c net.Conn) net.Conn {
	for {
		switch outer := c.(type) {
		case *tls.Conn:
			c = outer.NetConn()
		case *fastcgiConn:
			c = outer.Conn
		case *firstReadConn:
			c = outer.Conn
		default:
			return c
		}
	}
}
