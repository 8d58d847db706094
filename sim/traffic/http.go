package traffic

import "net/http"

// replaying is the client most programs are: GET over keep-alive connections,
// and a request that finds its connection dead is silently sent again on
// another. net/http does so for GET, HEAD, OPTIONS and TRACE (see
// http.Transport); browsers and most HTTP libraries do alike. Its failures are
// those that a retry cannot hide; what the retries hid is counted.
var replaying = lane{
	name:      "http",
	doc:       "GET over kept connections; when a connection closes, the client repeats the request, as HTTP allows",
	method:    http.MethodGet,
	transport: keepAlive,
}
