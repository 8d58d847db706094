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
	"net/url"
	"os"
	"sync"
	"time"
)

// onceTransport sends each request exactly once, or repeats it as net/http does. It uses net/http's
// framing, but manages connections itself: http.Transport decides on its own when to repeat a
// request, and needs two further goroutines for each connection.
type onceTransport struct {
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
	limit   int      // of the idle connections to an address
	repeats bool     // a request that did not get a byte of an answer over a used connection is sent again
	hangups *hangups // nil: the system has no more epoll instances
	texts   sync.Map // of requests without a body, by *http.Request: they are shared, and sent again and again

	mu          sync.Mutex
	idle        map[string]*idlePool // by address
	busy        map[*connection]bool
	interrupted bool
}

func newOnceTransport(d *dialer, limit int) *onceTransport {
	watch, err := watchHangups()
	if err != nil {
		watch = nil // ended connections are noticed when they are to be used
	}
	return &onceTransport{dial: d.dialURL, limit: limit, hangups: watch, idle: map[string]*idlePool{}, busy: map[*connection]bool{}}
}

// newRepeatingTransport returns a transport for requests that may be repeated: those without a body
// whose method is idempotent (RFC 9110, section 9.2.2). Like http.Transport, it repeats a request if
// a connection that has served before ends before the answer begins.
func newRepeatingTransport(d *dialer, limit int) *onceTransport {
	o := newOnceTransport(d, limit)
	o.repeats = true
	return o
}

// perform returns when the whole answer has been received. If the body breaks off, reading
// it returns the error, as with http.Transport.
func (o *onceTransport) perform(ctx context.Context, r *http.Request, trace *requestTrace) (*http.Response, error) {
	for {
		response, again, err := o.try(ctx, r, trace)
		if !again || !o.repeats {
			return response, err
		}
	}
}

// try sends the request once. again reports whether it may be repeated.
func (o *onceTransport) try(ctx context.Context, r *http.Request, trace *requestTrace) (response *http.Response, again bool, err error) {
	idle := o.pool(r.URL.Host)
	c, err := o.connection(ctx, idle, r.URL, trace)
	if err != nil {
		return nil, false, err
	}
	trace.connected(c.Conn, c.served, c.served)

	o.begin(ctx, c)
	response, err = o.exchange(c, r, trace)
	interrupted := o.end(c)
	reusable := !interrupted && err == nil && c.reader.Buffered() == 0 && !response.Close
	again = err != nil && c.served && !c.began && ctx.Err() == nil
	if reusable {
		c.served = true
		idle.put(c)
	} else {
		c.Close()
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = cmp.Or(context.Cause(ctx), context.DeadlineExceeded)
	}
	if response == nil {
		return nil, again, err
	}
	if body, ok := response.Body.(*received); ok {
		body.err = err
	}
	return response, false, nil
}

// exchange sends the request over a connection, and reads the answer to its end.
func (o *onceTransport) exchange(c *connection, r *http.Request, trace *requestTrace) (*http.Response, error) {
	c.began = false
	text, err := o.text(c, r)
	if err != nil {
		return nil, err
	}
	return c.exchange(r, text, trace)
}

// text returns the encoded request. It may use the connection's buffer.
func (o *onceTransport) text(c *connection, r *http.Request) ([]byte, error) {
	if r.Body == nil {
		if known, ok := o.texts.Load(r); ok {
			return known.([]byte), nil
		}
	}
	c.out.Reset()
	if err := r.Write(&c.out); err != nil {
		return nil, err
	}
	if r.Body == nil {
		o.texts.Store(r, bytes.Clone(c.out.Bytes()))
	}
	return c.out.Bytes(), nil
}

// begin sets the deadline of a connection for a request.
func (o *onceTransport) begin(ctx context.Context, c *connection) {
	at, _ := ctx.Deadline()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.busy[c] = true
	if o.interrupted {
		at = longAgo
	}
	c.SetDeadline(at)
}

// end reports whether the request that has ended was interrupted.
func (o *onceTransport) end(c *connection) (interrupted bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.busy, c)
	return o.interrupted
}

var longAgo = time.Unix(1, 0)

// interruptAfter interrupts the requests of a transport when ctx ends, if the transport does not watch
// the context of each request. The returned function stops that.
func interruptAfter(ctx context.Context, t transport) (stop func() bool) {
	o, ok := t.(*onceTransport)
	if !ok {
		return func() bool { return false }
	}
	return context.AfterFunc(ctx, o.interrupt)
}

// interrupt ends the requests under way, and all later ones.
func (o *onceTransport) interrupt() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.interrupted = true
	for c := range o.busy {
		c.SetDeadline(longAgo)
	}
}

func (o *onceTransport) CloseIdleConnections() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, pool := range o.idle {
		pool.close()
	}
	if o.hangups != nil {
		o.hangups.stop()
		o.hangups = nil
	}
}

// pool returns the pool of an address.
func (o *onceTransport) pool(address string) *idlePool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.idle[address] == nil {
		o.idle[address] = &idlePool{limit: o.limit, check: !o.repeats || o.hangups == nil}
	}
	return o.idle[address]
}

// connection takes a connection from the pool or opens one.
func (o *onceTransport) connection(ctx context.Context, idle *idlePool, to *url.URL, trace *requestTrace) (*connection, error) {
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
		trace.shook(err)
		if err != nil {
			opened.Close()
			return nil, err
		}
		c.Conn = secured
	}
	c.reader = bufio.NewReader(c.Conn)
	if o.hangups != nil {
		c.forget, err = o.hangups.add(c.socket.TCPConn, func() { idle.drop(c) })
		if err != nil {
			opened.Close()
			return nil, err
		}
	}
	return c, nil
}

// connection is the client's side of a keep-alive connection.
type connection struct {
	net.Conn // the socket, or TLS over it
	socket   *socket
	reader   *bufio.Reader
	out      bytes.Buffer // the last request that had a body
	plainHead
	forget func() // ends the watching; nil: it is not watched
	served bool   // an answer has been read from it
	began  bool   // an answer to the last request has begun
}

func (c *connection) Close() error {
	if c.forget != nil {
		c.forget()
	}
	return c.Conn.Close()
}

// exchange sends the text of a request and reads the answer to its end. It may return both an error
// and an answer, with as much of the body as was read.
func (c *connection) exchange(r *http.Request, text []byte, trace *requestTrace) (*http.Response, error) {
	trace.wrote()
	_, wrote := c.Write(text)
	// Read even if writing failed: the server may have answered before that.
	if _, err := c.reader.Peek(1); err != nil {
		return nil, cmp.Or(wrote, err)
	}
	c.began = true
	trace.received()
	response, err := c.readHead(r)
	if err != nil {
		return nil, err
	}
	body, err := readBody(response)
	response.Body.Close()
	response.Body = &received{text: body}
	response.Close = response.Close || wrote != nil
	return response, err
}

// readHead reads the head of the final answer and skips interim ones (RFC 9110, section 15.2).
func (c *connection) readHead(r *http.Request) (*http.Response, error) {
	if response := c.readPlain(); response != nil {
		return response, nil
	}
	for {
		response, err := http.ReadResponse(c.reader, r)
		if err != nil || response.StatusCode >= 200 || response.StatusCode == http.StatusSwitchingProtocols {
			return response, err
		}
	}
}

// atOnce is the largest body for which memory is allocated before it arrives, in bytes.
const atOnce = 1 << 16

// readBody reads the body of an answer. With an error, it also returns the bytes that came before it.
func readBody(r *http.Response) ([]byte, error) {
	if r.ContentLength < 0 || r.ContentLength > atOnce {
		return io.ReadAll(r.Body)
	}
	text := make([]byte, r.ContentLength)
	n, err := io.ReadFull(r.Body, text)
	if n == len(text) {
		return text, nil
	}
	return text[:n], err
}

// received is the body of an answer that has been read already.
type received struct {
	text []byte
	err  error // after the text; nil: the body is complete
	read int
}

func (b *received) Read(to []byte) (int, error) {
	n := copy(to, b.text[b.read:])
	b.read += n
	if n == 0 && len(to) > 0 {
		return 0, cmp.Or(b.err, io.EOF)
	}
	return n, nil
}

func (b *received) Close() error { return nil }
