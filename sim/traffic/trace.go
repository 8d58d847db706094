package traffic

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync"
)

// requestTrace collects what a transport reports about a request. A transport of net/http may still
// report after it returned.
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

// connected notes the connection that the request is about to be sent over.
func (t *requestTrace) connected(conn net.Conn, reused, idled bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reused, t.idled, t.began = reused, idled, false
	if secured, ok := conn.(*tls.Conn); ok {
		t.shown = secured.ConnectionState().PeerCertificates[0] // a server always shows one
		conn = secured.NetConn()
	}
	t.socket, _ = conn.(*socket) // every TCP connection of a lane: lanes dial through dialer
}

// shook notes the end of a TLS handshake.
func (t *requestTrace) shook(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.handshake = err
}

// wrote notes that the request was written.
func (t *requestTrace) wrote() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sent++
}

// received notes the first byte of an answer.
func (t *requestTrace) received() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.began = true
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

// traced is a transport that reports through net/http/httptrace.
type traced struct{ netTransport }

// netTransport is http.Transport, or a type that embeds it.
type netTransport interface {
	http.RoundTripper
	CloseIdleConnections()
}

func (t traced) perform(ctx context.Context, r *http.Request, trace *requestTrace) (*http.Response, error) {
	hooks := httptrace.ClientTrace{
		GotConn:              func(i httptrace.GotConnInfo) { trace.connected(i.Conn, i.Reused, i.Reused || i.WasIdle) },
		TLSHandshakeDone:     func(_ tls.ConnectionState, err error) { trace.shook(err) },
		WroteHeaders:         trace.wrote,
		GotFirstResponseByte: trace.received,
	}
	return t.RoundTrip(r.WithContext(httptrace.WithClientTrace(ctx, &hooks)))
}
