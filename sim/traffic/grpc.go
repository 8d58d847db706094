package traffic

import (
	"net/http"

	"windtunnel.dev/sim/backend"
)

// calling is the gRPC client of one message each way. Calls share a connection,
// as they do in gRPC: what ends it meets many at once.
var calling = lane{
	name:      "grpc",
	method:    http.MethodPost,
	door:      TLS,
	ownPaths:  true,
	body:      nonReplaying.body,
	read:      readCall,
	transport: call(backend.AskMethod),
}
