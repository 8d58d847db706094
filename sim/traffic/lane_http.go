package traffic

import "net/http"

// httpLane behaves like most programs: it sends GET requests over keep-alive connections, and if a
// connection turns out to be dead, it silently repeats the request on another one. net/http does so
// for GET, HEAD, OPTIONS and TRACE (see http.Transport), as do browsers and most HTTP libraries;
// newRepeatingTransport repeats the same requests as net/http. The lane's failures are those that a
// retry cannot hide; hidden retries are counted.
var httpLane = lane{
	name: "http",
	doc:  "GET over kept connections; when a connection closes, the client repeats the request, as HTTP allows",
	http: &httpClient{
		method:    http.MethodGet,
		transport: func(d *dialer, a Attack) transport { return newRepeatingTransport(d, a.MaxInFlight) },
	},
}
