package traffic

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	"windtunnel.dev/sim/backend"
)

// exchangeSender sends the shots of a lane that does not speak HTTP, each over a connection or
// socket of its own.
type exchangeSender struct {
	recorder
	dialer *dialer
}

// send performs the exchange of a shot and logs it.
func (e *exchangeSender) send(s shot) outcome {
	return e.record(s, func(ctx context.Context) outcome { return e.exchange(ctx, e.attack.address(s.target).String()) })
}

// exchange connects, and has the lane perform its exchange until ctx ends.
func (e *exchangeSender) exchange(ctx context.Context, address string) outcome {
	c, err := e.dialer.dial(ctx, e.lane.listener.network(), address)
	if err != nil {
		return outcome{err: err}
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })()
	got := e.lane.exchange(ctx, c, e.attack)
	if ctx.Err() != nil && errors.Is(got.err, os.ErrDeadlineExceeded) {
		got.err = context.Cause(ctx)
	}
	identity, _ := backend.ParseIdentity(got.identity) // if this fails, the lane has reported a flaw
	return outcome{
		err:      got.err,
		noHTTP:   true,
		identity: identity,
		began:    got.messages > 0,
		over:     endedByServer(c),
		flaw:     got.flaw,
		messages: got.messages,
	}
}

// endedByServer reports whether the server ended a TCP connection; UDP has none.
func endedByServer(c net.Conn) bool {
	tcp, ok := c.(*socket)
	return ok && tcp.over.Load()
}
