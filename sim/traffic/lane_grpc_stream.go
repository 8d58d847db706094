package traffic

import (
	"fmt"
	"io"
	"net/http"
	"strconv"

	"windtunnel.dev/internal/plural"
	"windtunnel.dev/sim/backend"
)

// grpcStreamLane opens gRPC server streams: a message comes every streamInterval, for
// Attack.Last. A stream that ends before its status arrived was cut.
var grpcStreamLane = lane{
	name:     "grpc-stream",
	doc:      "a gRPC server stream for `last`; a message comes every 100 ms",
	listener: TLS,
	lasts:    true,
	stream:   true,
	http: &httpClient{
		method:   http.MethodPost,
		ownPaths: true,
		body:     randomText,
		header: func(a Attack) http.Header {
			return http.Header{backend.EventsHeader: {strconv.Itoa(messagesIn(a))}, backend.TakeHeader: {a.Last.String()}}
		},
		read: func(response *http.Response, a Attack) content {
			c := readGRPC(response, a)
			if c.err == nil && c.failed == "" && c.messages < messagesIn(a) {
				c.err = fmt.Errorf("the stream ended after %d of %s: %w", c.messages, plural.Of(messagesIn(a), "message"), io.ErrUnexpectedEOF)
			}
			return c
		},
		transport: newGRPCClient(backend.WatchMethod),
	},
}
