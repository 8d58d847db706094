package traffic

import "net/http"

// freshLane has no keep-alive: GET, each over a new connection, like a load balancer
// without a connection pool. It shows what new connections meet: refusals, and listeners
// that close with connections in their queue.
var freshLane = lane{
	name: "fresh",
	doc:  "GET, each over a new connection",
	http: &httpClient{
		method: http.MethodGet,
		transport: func(d *dialer, _ Attack) transport {
			return traced{&http.Transport{DialContext: d.dialURL, TLSClientConfig: anyCertificate(), DisableKeepAlives: true, DisableCompression: true}}
		},
	},
}
