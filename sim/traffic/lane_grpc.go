package traffic

import (
	"net/http"

	"windtunnel.dev/sim/backend"
)

// grpcLane makes gRPC calls with one message each way. Calls to a host share a connection,
// as usual in gRPC, so the end of a connection affects many calls at once.
var grpcLane = lane{
	name:     "grpc",
	doc:      "a gRPC call over HTTP/2 and TLS: one message each way; calls to a host share a connection",
	listener: TLS,
	http: &httpClient{
		method:    http.MethodPost,
		ownPaths:  true,
		body:      randomText,
		read:      readGRPC,
		transport: newGRPCClient(backend.AskMethod),
	},
}
