package traffic

import (
	"net/http"

	"windtunnel.dev/sim/backend"
)

// slowLane has answers in flight for seconds: the header comes at once, the body in pieces
// over Attack.Last. Whatever ends connections early, such as the shutdown timeout of a
// worker or a pod, shows here as truncated answers.
var slowLane = lane{
	name:  "slow",
	doc:   "GET; the response header comes at once, the body in pieces over `last`",
	lasts: true,
	http: &httpClient{
		method:    http.MethodGet,
		header:    func(a Attack) http.Header { return http.Header{backend.TakeHeader: {a.Last.String()}} },
		transport: keepAlive,
	},
}
