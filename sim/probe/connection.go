package probe

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// The response headers with the name and the service of a simulated pod.
const (
	podHeader     = "X-Windtunnel-Pod"
	serviceHeader = "X-Windtunnel-Service"
)

// errClosed means that nginx closed a connection without a byte of an answer. It may do so with a
// keep-alive connection at any time; this says nothing about a change.
var errClosed = errors.New("nginx closed the connection")

// connection is a keep-alive connection to one worker. It is not safe for use by several
// goroutines. It speaks HTTP/1.1 itself, because an http.Transport would choose the connection, and
// would repeat on another one a request that failed on this one.
type connection struct {
	net.Conn
	read     *bufio.Reader
	stop     func() bool
	requests int // so far
}

// newConnection takes over conn, and closes it when ctx ends.
func newConnection(ctx context.Context, conn net.Conn) *connection {
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	return &connection{Conn: conn, read: bufio.NewReader(conn), stop: stop}
}

// secure starts TLS on a new connection, with host as the name of the server. It accepts any
// certificate. After an error, the connection is closed.
func (c *connection) secure(ctx context.Context, host string, timeout time.Duration) (*connection, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	secured := tls.Client(c.Conn, &tls.Config{ServerName: host, InsecureSkipVerify: true})
	if err := secured.HandshakeContext(ctx); err != nil {
		c.Close()
		return nil, fmt.Errorf("TLS handshake: %w", err)
	}
	return &connection{Conn: secured, read: bufio.NewReader(secured), stop: c.stop}, nil
}

func (c *connection) Close() error {
	c.stop()
	return c.Conn.Close()
}

// get sends one request. After an error, or the last answer of a connection, the connection cannot be
// used again.
func (c *connection) get(host, path string, timeout time.Duration) (answer, error) {
	if err := c.SetDeadline(time.Now().Add(timeout)); err != nil {
		return answer{}, fmt.Errorf("%w: %w", errClosed, err)
	}
	if path == "" {
		path = "/"
	}
	c.requests++
	if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: windtunnel-probe\r\n\r\n", path, host); err != nil {
		return answer{}, closedUnlessTimeout(err)
	}
	if _, err := c.read.Peek(1); err != nil {
		return answer{}, closedUnlessTimeout(err)
	}
	response, err := http.ReadResponse(c.read, nil)
	if err != nil {
		return answer{}, fmt.Errorf("reading the answer's head: %w", err)
	}
	defer response.Body.Close()
	a := answer{pod: response.Header.Get(podHeader), service: response.Header.Get(serviceHeader), status: response.StatusCode, last: response.Close}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return a, fmt.Errorf("reading the answer's body: %w", err)
	}
	return a, nil
}

func closedUnlessTimeout(err error) error {
	var network net.Error
	if errors.As(err, &network) && network.Timeout() {
		return fmt.Errorf("no answer: %w", err)
	}
	return fmt.Errorf("%w: %w", errClosed, err)
}
