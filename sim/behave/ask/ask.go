// Package ask is the client of behaviour cases: it sends a case's request to a controller's
// listeners and records the answers. Its one rule: a request goes on the wire as the case writes
// it, and an answer is recorded as it came. No redirect is followed, no request is repeated, no
// body is decompressed.
package ask

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"windtunnel.dev/sim/behave"
)

// Target holds the listeners that requests go to, and the certificates and jars that they name.
type Target struct {
	HTTP, HTTPS   netip.AddrPort // the IPv4 listeners
	HTTP6, HTTPS6 netip.AddrPort // the IPv6 listeners; the zero value means that there is none
	// Certificates are the certificates that clients can present, by name.
	Certificates map[string]tls.Certificate
	// NameOf returns the name of a served certificate: its name in the case, or "default" for the
	// controller's own. If it returns "" or is nil, the certificate's subject is recorded.
	NameOf func(leaf *x509.Certificate) string
	// Sessions are the TLS sessions that connections can resume. nil: only those of the same call.
	Sessions tls.ClientSessionCache
	// Jars are the cookie jars. nil if no request names one.
	Jars *Jars
}

// Send sends a request r.Times times, and returns one exchange for each time. Took is
// the time from the first byte of the request to the last byte of the answer. It does not include
// opening the connection, the PROXY header and the TLS handshake, and is zero if no connection
// could be opened. An exchange that failed contains the part of the answer that arrived.
//
// An error means that the request cannot be judged: the case is wrong (a URL with a raw space, an
// unknown certificate), ctx ended, the machine cannot send the request, or the body of an answer
// exceeds 16 MiB. Everything else that a server can cause is a failure of the exchange.
func Send(ctx context.Context, to Target, r behave.Request) ([]behave.Exchange, error) {
	c, err := newCall(to, r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Request, err)
	}
	all := make([]behave.Exchange, max(r.Times, 1))
	if r.Together {
		err = c.together(ctx, all)
	} else {
		err = c.inTurn(ctx, all)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.Request, err)
	}
	return all, nil
}

// inTurn sends the request once for each element of all: over one connection if the case says so,
// otherwise over a new connection each time.
func (c *call) inTurn(ctx context.Context, all []behave.Exchange) error {
	on := &connection{}
	defer func() { on.close() }()
	for i := range all {
		if !c.keepAlive {
			on.close()
			on = &connection{}
		}
		if err := c.exchange(ctx, on, &all[i], nil); err != nil {
			return err
		}
	}
	return nil
}

// together opens a connection for each element of all, and sends the requests when all are open.
func (c *call) together(ctx context.Context, all []behave.Exchange) error {
	var opened, done sync.WaitGroup
	opened.Add(len(all))
	errs := make([]error, len(all))
	for i := range all {
		done.Go(func() {
			on := &connection{}
			defer on.close()
			errs[i] = c.exchange(ctx, on, &all[i], &opened)
		})
	}
	done.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// exchange sends the request once. It opens the connection if it is not open yet. If opened is not
// nil, it then reports the connection as opened, and waits until all others are open.
func (c *call) exchange(ctx context.Context, on *connection, e *behave.Exchange, opened *sync.WaitGroup) error {
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	err := c.open(limited, on)
	if opened != nil {
		opened.Done()
		opened.Wait()
	}
	e.TLS = on.session
	if err == nil {
		err = c.roundTrip(limited, on, e)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		on.ended = cmp.Or(on.ended, "an earlier request over this connection failed")
		e.Failure, err = classify(err)
		if e.Failure != "" {
			e.Detail, err = describe(err), nil
		}
	}
	c.keepCookies(e)
	return err
}

// describe returns the text of an error without the addresses of sockets: these differ from request to
// request, and say nothing about the controller.
func describe(err error) string {
	text := err.Error()
	if operation := new(net.OpError); errors.As(err, &operation) && operation.Err != nil {
		text = strings.ReplaceAll(text, operation.Error(), operation.Op+": "+operation.Err.Error())
	}
	return text
}

// roundTrip sends the request over an open connection and reads the answer.
func (c *call) roundTrip(ctx context.Context, on *connection, e *behave.Exchange) error {
	switch {
	case on.http2 != nil:
		return c.roundTrip2(ctx, on, e)
	case c.webSocket:
		return c.chat(ctx, on, e)
	}
	return c.roundTrip1(ctx, on, e)
}

// stopwatch measures Took.
type stopwatch time.Time

func startWatch() stopwatch { return stopwatch(time.Now()) }

func (s stopwatch) stop(e *behave.Exchange) { e.Took = time.Since(time.Time(s)) }
