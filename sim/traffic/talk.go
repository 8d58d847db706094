package traffic

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptrace"
	"os"
	"time"

	"windtunnel.dev/sim/backend"
)

// talked says what came of a request that is no HTTP: what its lane says over
// a connection of its own.
func (r *recorder) talked(request *http.Request) outcome {
	ctx := request.Context()
	trace := httptrace.ContextClientTrace(ctx) // the recorder always sets one
	network := "tcp"
	if r.lane.door == UDP {
		network = "udp"
	}
	c, err := r.sockets.dial(ctx, network, request.URL.Host)
	if err != nil {
		return outcome{err: err}
	}
	defer c.Close()
	trace.GotConn(httptrace.GotConnInfo{Conn: c})
	defer context.AfterFunc(ctx, func() { c.SetDeadline(time.Unix(1, 0)) })()
	got := r.lane.talk(ctx, c, r.attack)
	trace.WroteHeaders()
	if got.messages > 0 {
		trace.GotFirstResponseByte()
	}
	if ctx.Err() != nil && errors.Is(got.err, os.ErrDeadlineExceeded) {
		got.err = context.Cause(ctx)
	}
	identity, _ := backend.ParseIdentity(got.identity) // what is no identity is a flaw already
	return outcome{err: got.err, plain: true, identity: identity, flaw: got.flaw, messages: got.messages}
}
