package traffic

import (
	"fmt"
	"io"
	"net/http"
	"strconv"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/backend"
)

// watching is the gRPC client that stays: a server stream with a message in a
// tenth of a second, for Attack.Last. What ends it before its status has come
// cuts it.
var watching = lane{
	name:     "grpc-stream",
	doc:      "a gRPC server stream for `last`; a message comes every 100 ms",
	method:   http.MethodPost,
	door:     TLS,
	ownPaths: true,
	body:     nonReplaying.body,
	ask: func(a Attack) http.Header {
		return http.Header{backend.EventsHeader: {strconv.Itoa(eventsIn(a))}, backend.TakeHeader: {a.Last.String()}}
	},
	read: func(response *http.Response, a Attack) content {
		c := readCall(response, a)
		if c.err == nil && c.failed == "" && c.messages < eventsIn(a) {
			c.err = fmt.Errorf("the stream ended after %d of %s: %w", c.messages, plural.Of(eventsIn(a), "message"), io.ErrUnexpectedEOF)
		}
		return c
	},
	stream:    true,
	transport: call(backend.WatchMethod),
	lasts:     true,
}
