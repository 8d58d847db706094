package traffic

import (
	"net/http"

	"windtunnel.dev/sim/backend"
)

// calling is the gRPC client of one message each way. Calls share a connection,
// as they do in gRPC: what ends it meets many at once.
var calling = lane{
	name:      "grpc",
	doc:       "a gRPC call over HTTP/2 and TLS: one message each way; calls to a host share a connection",
	method:    http.MethodPost,
	door:      TLS,
	ownPaths:  true,
	body:      nonReplaying.body,
	read:      readCall,
	transport: call(backend.AskMethod),
}
