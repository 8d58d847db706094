package ask

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"golang.org/x/net/http/httpguts"
	"golang.org/x/net/http2"

	"windtunnel.dev/sim/behave"
)

// startHTTP2 sends the preface of HTTP/2 and starts reading frames.
func (on *connection) startHTTP2() error {
	transport, err := http2.ConfigureTransports(&http.Transport{DisableCompression: true, ExpectContinueTimeout: continueDelay})
	if err != nil {
		return unjudgeable{err}
	}
	w := &watched{Conn: on.Conn}
	on.Conn = w
	client, err := transport.NewClientConn(w)
	on.http2 = &http2Conn{client, w}
	return err
}

// http2Conn is a connection of HTTP/2.
type http2Conn struct {
	*http2.ClientConn
	socket *watched
}

// watched is a connection that remembers why it failed. golang.org/x/net/http2 reports the first
// error that it meets, or a general one, even if the connection shows a more specific reason: a
// reset, or the alert with which a server refuses the client's certificate in TLS 1.3 after the
// client has completed its handshake.
type watched struct {
	net.Conn
	mu     sync.Mutex
	failed error // the first error of Read
}

func (w *watched) Read(b []byte) (int, error) {
	n, err := w.Conn.Read(b)
	if err != nil {
		w.mu.Lock()
		w.failed = cmp.Or(w.failed, err)
		w.mu.Unlock()
	}
	return n, err
}

func (w *watched) Write(b []byte) (int, error) {
	n, err := w.Conn.Write(b)
	if err == nil {
		return n, nil
	}
	_, unread := io.Copy(io.Discard, w.Conn) // ends: a connection that cannot be written to does not stay open
	return n, cmp.Or(unread, err)
}

// reason returns why a request failed: the error of the request, unless that of the connection is
// more specific.
func (w *watched) reason(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil || w.failed == nil {
		return err
	}
	ofRequest, _ := classify(err)
	ofSocket, _ := classify(w.failed)
	if ofRequest == closed && ofSocket != closed {
		return w.failed
	}
	return err
}

// checkFields2 returns an error for fields that this client cannot send with HTTP/2: those that RFC
// 9113, section 8.2, forbids, and those that golang.org/x/net/http2 computes itself.
func (c *call) checkFields2(given map[string]behave.Values) error {
	for name, values := range given {
		switch strings.ToLower(name) {
		case "connection", "proxy-connection", "keep-alive", "upgrade", "transfer-encoding", "content-length":
			return fmt.Errorf("header %s cannot be sent with HTTP/2", name)
		case "user-agent":
			if len(values) > 1 {
				return fmt.Errorf("header %s can be sent only once with HTTP/2", name)
			}
		}
		if !httpguts.ValidHeaderFieldName(name) {
			return fmt.Errorf("header %q cannot be sent with HTTP/2", name)
		}
		for _, value := range values {
			if !httpguts.ValidHeaderFieldValue(value) {
				return fmt.Errorf("header %s: %q cannot be sent with HTTP/2", name, value)
			}
		}
	}
	hosts := 0
	for _, f := range c.fields {
		if f.is("Host") {
			hosts++
			if plain, err := httpguts.PunycodeHostPort(f.value); err != nil || plain != f.value || plain == "" || !httpguts.ValidHostHeader(plain) {
				return fmt.Errorf("host %q cannot be sent with HTTP/2", f.value)
			}
		}
	}
	if hosts != 1 {
		return errors.New("HTTP/2 needs one Host")
	}
	return nil
}

// request2 returns the request for golang.org/x/net/http2. That sends names in lower case, fields
// in any order, cookies one by one, and "content-length: 0" with a POST, PUT or PATCH without body.
func (c *call) request2(ctx context.Context) *http.Request {
	r := &http.Request{Method: c.method, Header: http.Header{}, ContentLength: c.length}
	r.Header["User-Agent"] = []string{""} // sends none
	for _, f := range c.withCookies() {
		switch {
		case f.is("Host"):
			r.Host = f.value
		case f.is("Content-Length"), f.is("Transfer-Encoding"):
		case f.is("User-Agent"):
			r.Header["User-Agent"] = []string{f.value}
		default:
			r.Header[f.name] = append(r.Header[f.name], f.value)
		}
	}
	if c.hasBody {
		r.Body = http.NoBody
		if c.length > 0 {
			r.Body = io.NopCloser(c.body())
		}
	}
	if c.chunked {
		r.ContentLength = -1
	}
	// http2 removes scheme and host from an opaque URL, and sends the rest as :path.
	r.URL = &url.URL{Scheme: c.scheme, Opaque: "//" + r.Host + c.target}
	return r.WithContext(ctx)
}

// roundTrip2 sends a request of HTTP/2.
func (c *call) roundTrip2(ctx context.Context, on *connection, e *behave.Exchange) error {
	r := c.request2(ctx)
	defer whenDone(ctx, on)()
	watch := startWatch()
	defer watch.stop(e)
	answer, err := on.http2.RoundTrip(r)
	if err != nil {
		return on.http2.socket.reason(err)
	}
	defer answer.Body.Close()
	e.Status, e.Protocol, e.Header = answer.StatusCode, answer.Proto, answer.Header
	e.MaxStreams = int(on.http2.State().MaxConcurrentStreams) // its SETTINGS came first
	e.Body, err = readUpTo(answer.Body)
	if len(answer.Trailer) > 0 {
		e.Trailer = answer.Trailer
	}
	if c.grpc && err == nil {
		e.Body = grpcContent(e.Header, e.Body)
	}
	return on.http2.socket.reason(err)
}
