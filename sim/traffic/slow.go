package traffic

import (
	"net/http"

	"windtunnel.dev/sim/backend"
)

// slow is the client with answers in flight for seconds: the head comes at
// once, the body bit by bit over Attack.Last. What ends connections early, a
// worker's shutdown timeout or a pod's, shows here as truncated answers.
var slow = lane{
	name:      "slow",
	doc:       "GET; the response header comes at once, the body in pieces over `last`",
	method:    http.MethodGet,
	ask:       func(a Attack) http.Header { return http.Header{backend.TakeHeader: {a.Last.String()}} },
	transport: keepAlive,
	lasts:     true,
}
