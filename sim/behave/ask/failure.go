package ask

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/http2"
)

// The values of behave.Expect.Fails.
const (
	refused = "refused" // nothing listens
	closed  = "closed"  // the server ended the connection, or sent bytes that are no answer
	reset   = "reset"   // the server reset the connection, or with HTTP/2 the stream
	timeout = "timeout"
	tlsFail = "tls" // the handshake failed, or the server sent an alert
)

// unjudgeable is an error that a server did not cause.
type unjudgeable struct{ error }

func (e unjudgeable) Unwrap() error { return e.error }

// closedError is the reason why a connection ended.
type closedError string

func (e closedError) Error() string { return string(e) }

// malformed marks bytes that are no answer.
func malformed(err error) error { return fmt.Errorf("malformed answer: %w", err) }

// classify returns the failure that an error stands for, and the error. The failure is empty if the
// server did not cause the error.
func classify(err error) (string, error) {
	var stream http2.StreamError
	switch {
	case errors.As(err, new(unjudgeable)):
		return "", err
	case isTimeout(err):
		return timeout, err
	case errors.Is(err, syscall.ECONNREFUSED):
		return refused, err
	case errors.Is(err, syscall.ECONNRESET):
		return reset, err
	case errors.As(err, &stream) && isFromPeer(stream):
		return reset, err
	case strings.Contains(err.Error(), "tls: "): // crypto/tls has no types for most errors
		return tlsFail, err
	}
	// A connection that the server closes reads as EOF. If the server answers a later write with an
	// RST, Linux reports EPIPE, and in no other case.
	return closed, err
}

// isFromPeer reports whether the server reset a stream. Otherwise the client reset it, because of
// what the server had sent.
func isFromPeer(e http2.StreamError) bool {
	return e.Cause != nil && e.Cause.Error() == "received from peer"
}

func isTimeout(err error) bool {
	var timeout net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.As(err, &timeout) && timeout.Timeout()
}

// whenDone makes reads and writes fail when ctx ends, until the returned function is called.
func whenDone(ctx context.Context, c net.Conn) (stop func()) {
	cancel := context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
	return func() { cancel() }
}
