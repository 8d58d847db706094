package traffic

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"sync"
	"time"
)

// onceTransport sends each request exactly once. It uses net/http's framing, but manages
// connections itself, because http.Transport decides on its own when to repeat a request.
type onceTransport struct {
	dial  func(ctx context.Context, network, address string) (net.Conn, error)
	limit int // of the idle connections to an address

	mu   sync.Mutex
	idle map[string]*idlePool // by address
}

func newOnceTransport(d *dialer, limit int) *onceTransport {
	return &onceTransport{dial: d.dialURL, limit: limit, idle: map[string]*idlePool{}}
}

// RoundTrip returns when the whole answer has been received. If the body breaks off, reading
// it returns the error, as with http.Transport.
func (o *onceTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	trace := httptrace.ContextClientTrace(ctx) // httpSender always sets one
	idle := o.pool(r.URL.Host)
	c, err := o.connection(ctx, idle, r.URL, trace)
	if err != nil {
		return nil, err
	}
	trace.GotConn(httptrace.GotConnInfo{Conn: c.Conn, Reused: c.served})

	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	response, err := c.exchange(r, trace)
	reusable := stop() && err == nil && c.reader.Buffered() == 0 && !response.Close
	if reusable {
		c.served = true
		idle.put(c)
	} else {
		c.Close()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = context.Cause(ctx)
	}
	if response == nil {
		return nil, err
	}
	if err != nil {
		response.Body = io.NopCloser(io.MultiReader(response.Body, failingReader{err}))
	}
	return response, nil
}

func (o *onceTransport) CloseIdleConnections() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, pool := range o.idle {
		pool.close()
	}
}

// pool returns the pool of an address.
func (o *onceTransport) pool(address string) *idlePool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.idle[address] == nil {
		o.idle[address] = &idlePool{limit: o.limit}
	}
	return o.idle[address]
}

// connection takes a connection from the pool or opens one.
func (o *onceTransport) connection(ctx context.Context, idle *idlePool, to *url.URL, trace *httptrace.ClientTrace) (*connection, error) {
	if c := idle.get(); c != nil {
		return c, nil
	}
	opened, err := o.dial(ctx, "tcp", to.Host)
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: opened, socket: opened.(*socket)}
	if to.Scheme == "https" {
		config := anyCertificate()
		config.ServerName = to.Hostname()
		secured := tls.Client(opened, config)
		err := secured.HandshakeContext(ctx)
		trace.TLSHandshakeDone(secured.ConnectionState(), err)
		if err != nil {
			opened.Close()
			return nil, err
		}
		c.Conn = secured
	}
	c.reader = bufio.NewReader(c.Conn)
	return c, nil
}

// connection is the client's side of a keep-alive connection.
type connection struct {
	net.Conn // the socket, or TLS over it
	socket   *socket
	reader   *bufio.Reader
	served   bool // an answer has been read from it
}

// exchange sends the request and reads the answer to its end. It may return both an error and
// an answer, with as much of the body as was read.
func (c *connection) exchange(r *http.Request, trace *httptrace.ClientTrace) (*http.Response, error) {
	var buffer bytes.Buffer
	if err := r.Write(&buffer); err != nil { // calls the trace's WroteHeaders
		return nil, err
	}
	_, wrote := c.Write(buffer.Bytes())
	// Read even if writing failed: the server may have answered before that.
	if _, err := c.reader.Peek(1); err != nil {
		return nil, cmp.Or(wrote, err)
	}
	trace.GotFirstResponseByte()
	response, err := c.readHead(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.Close = response.Close || wrote != nil
	return response, err
}

// readHead reads the head of the final answer and skips interim ones (RFC 9110, section 15.2).
func (c *connection) readHead(r *http.Request) (*http.Response, error) {
	for {
		response, err := http.ReadResponse(c.reader, r)
		if err != nil || response.StatusCode >= 200 || response.StatusCode == http.StatusSwitchingProtocols {
			return response, err
		}
	}
}

// failingReader always returns an error.
type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }
