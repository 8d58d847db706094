package traffic

import "net/http"

// tlsLane connects for the first time with each request: a full TLS handshake with the
// host's name (SNI), then one GET. It resumes no session, so each request shows which
// certificate clients get at that time. It accepts any certificate for the host, whoever
// signed it.
var tlsLane = lane{
	name:     "tls",
	doc:      "GET, each over a new TLS connection: a full handshake with the host's name (SNI); the certificate's serial number is recorded",
	listener: TLS,
	http: &httpClient{
		method: http.MethodGet,
		transport: func(d *dialer, _ Attack) transport {
			return traced{&http.Transport{
				DialContext:        d.dialTo,
				TLSClientConfig:    anyCertificate(),
				DisableKeepAlives:  true,
				DisableCompression: true,
			}}
		},
	},
}
