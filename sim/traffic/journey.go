package traffic

import (
	"crypto/tls"
	"crypto/x509"
	"net/http/httptrace"
	"sync"
)

// journey is what a request met on its way, as its transport tells it. A
// transport may still tell when it has returned.
type journey struct {
	mu     sync.Mutex
	sent   int     // times that it was written to a connection
	reused bool    // the last connection had served before
	idled  bool    // … or had at least waited for work
	began  bool    // the answer began
	socket *socket // the last one; nil: none was got
	shown  *x509.Certificate
	failed error // of the last TLS handshake
}

func (j *journey) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GotConn: func(i httptrace.GotConnInfo) {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.reused, j.idled, j.began = i.Reused, i.Reused || i.WasIdle, false
			conn := i.Conn
			if secured, ok := conn.(*tls.Conn); ok {
				j.shown = secured.ConnectionState().PeerCertificates[0] // a server always shows one
				conn = secured.NetConn()
			}
			j.socket, _ = conn.(*socket) // all TCP of the lanes: they dial through dialer
		},
		TLSHandshakeDone: func(_ tls.ConnectionState, err error) {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.failed = err
		},
		WroteHeaders: func() {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.sent++
		},
		GotFirstResponseByte: func() {
			j.mu.Lock()
			defer j.mu.Unlock()
			j.began = true
		},
	}
}

// tell adds the journey to an outcome, and returns how often the request was
// sent again.
func (j *journey) tell(o *outcome) (retries int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	o.reused, o.idled, o.began = j.reused, j.idled, j.began
	o.shown, o.handshake = j.shown, j.failed
	o.over = j.socket != nil && j.socket.over.Load()
	return max(j.sent-1, 0)
}
