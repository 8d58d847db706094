package traffic

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"time"
)

// onceTransport sends each request exactly once. It uses net/http's framing, but manages
// connections itself, because http.Transport decides on its own when to repeat a request.
type onceTransport struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)
	idle idlePool
}

// RoundTrip returns when the whole answer has been received. If the body breaks off, reading
// it returns the error, as with http.Transport.
func (o *onceTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	trace := httptrace.ContextClientTrace(ctx) // httpSender always sets one
	c, err := o.connection(ctx, r.URL.Host)
	if err != nil {
		return nil, err
	}
	trace.GotConn(httptrace.GotConnInfo{Conn: c.socket, Reused: c.served})

	stop := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	response, err := c.exchange(r, trace)
	reusable := stop() && err == nil && c.reader.Buffered() == 0 && !response.Close
	if reusable {
		c.served = true
		o.idle.put(c)
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

func (o *onceTransport) CloseIdleConnections() { o.idle.close() }

// connection takes a connection from the pool or opens one.
func (o *onceTransport) connection(ctx context.Context, address string) (*connection, error) {
	if c := o.idle.get(); c != nil {
		return c, nil
	}
	c, err := o.dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &connection{socket: c.(*socket), reader: bufio.NewReader(c)}, nil
}

// connection is the client's side of a keep-alive connection.
type connection struct {
	*socket
	reader *bufio.Reader
	served bool // an answer has been read from it
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
