package traffic

import (
	"crypto/tls"
	"crypto/x509"
	"net/http/httptrace"
	"sync"
)

// requestTrace collects what a transport reports about a request through httptrace. A transport
// may still report after it returned.
type requestTrace struct {
	mu        sync.Mutex
	sent      int     // how often the request was written to a connection
	reused    bool    // the last connection had served a request before
	idled     bool    // the last connection had served before, or waited in the pool
	began     bool    // the answer began
	socket    *socket // the last one; nil: there was none
	shown     *x509.Certificate
	handshake error // of the last TLS handshake
}

func (t *requestTrace) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.reused, t.idled, t.began = i.Reused, i.Reused || i.WasIdle, false
			conn := i.Conn
			if secured, ok := conn.(*tls.Conn); ok {
				t.shown = secured.ConnectionState().PeerCertificates[0] // a server always shows one
				conn = secured.NetConn()
			}
			t.socket, _ = conn.(*socket) // every TCP connection of a lane: lanes dial through dialer
		},
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.handshake = err
		},
		WroteHeaders: func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.sent++
		},
		GotFirstResponseByte: func() {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.began = true
		},
	}
}

// addTo adds what is known so far to an outcome.
func (t *requestTrace) addTo(o *outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	o.reused, o.idled, o.began = t.reused, t.idled, t.began
	o.retries = max(t.sent-1, 0)
	o.shown, o.handshake = t.shown, t.handshake
	o.over = t.socket != nil && t.socket.over.Load()
}
