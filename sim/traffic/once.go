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

// once sends each request once, on one connection, and never again. Framing is
// net/http's; the connections are its own, because http.Transport decides by
// itself when to replay.
type once struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)
	pool pool
}

// RoundTrip answers when the whole answer is there. What went wrong in the
// middle of a body is the error of reading it, as with http.Transport.
func (o *once) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx := r.Context()
	trace := httptrace.ContextClientTrace(ctx) // the recorder always sets one
	c, err := o.connection(ctx, r.URL.Host)
	if err != nil {
		return nil, err
	}
	trace.GotConn(httptrace.GotConnInfo{Conn: c.socket, Reused: c.served})

	hurry := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	response, err := c.exchange(r, trace)
	reusable := hurry() && err == nil && c.reader.Buffered() == 0 && !response.Close
	if reusable {
		c.served = true
		o.pool.put(c)
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
		response.Body = io.NopCloser(io.MultiReader(response.Body, failing{err}))
	}
	return response, nil
}

func (o *once) CloseIdleConnections() { o.pool.close() }

// connection takes one from the pool or opens one.
func (o *once) connection(ctx context.Context, address string) (*connection, error) {
	if c := o.pool.get(); c != nil {
		return c, nil
	}
	c, err := o.dial(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &connection{socket: c.(*socket), reader: bufio.NewReader(c)}, nil
}

// connection is a client's side of a keep-alive connection.
type connection struct {
	*socket
	reader *bufio.Reader
	served bool // an answer has come over it
}

// exchange sends the request and reads the answer to its end. It may return
// both an answer, with what was read of the body, and an error.
func (c *connection) exchange(r *http.Request, trace *httptrace.ClientTrace) (*http.Response, error) {
	var buffer bytes.Buffer
	if err := r.Write(&buffer); err != nil { // calls the trace's WroteHeaders
		return nil, err
	}
	_, wrote := c.Write(buffer.Bytes())
	// Whatever became of the writing: the server may have answered before.
	if _, err := c.reader.Peek(1); err != nil {
		return nil, cmp.Or(wrote, err)
	}
	trace.GotFirstResponseByte()
	response, err := c.final(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.Close = response.Close || wrote != nil
	return response, err
}

// final reads the head of the answer, past the interim ones (RFC 9110, section 15.2).
func (c *connection) final(r *http.Request) (*http.Response, error) {
	for {
		response, err := http.ReadResponse(c.reader, r)
		if err != nil || response.StatusCode >= 200 || response.StatusCode == http.StatusSwitchingProtocols {
			return response, err
		}
	}
}

// failing is a reader that ends with an error.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
