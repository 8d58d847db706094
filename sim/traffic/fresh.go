package traffic

import "net/http"

// fresh is the client without keep-alive: GET, each over a new connection, as of
// a load balancer that pools nothing. What new connections meet shows here:
// refusal, and listeners that close with connections in their queue.
var fresh = lane{
	name:   "fresh",
	doc:    "GET, each over a new connection",
	method: http.MethodGet,
	transport: func(d *dialer, _ Attack) transport {
		return &http.Transport{DialContext: d.dial, DisableKeepAlives: true, DisableCompression: true}
	},
}
