package traffic

import (
	"crypto/tls"
	"net/http"
)

// handshaking is the client that comes for the first time: a full TLS
// handshake with the host's name (SNI), then one GET. It remembers no session,
// so each request shows which certificate clients get now. It takes any that is
// for the host, whoever signed it.
var handshaking = lane{
	name:   "tls",
	doc:    "GET, each over a new TLS connection: a full handshake with the host's name (SNI); the certificate's serial number is recorded",
	method: http.MethodGet,
	door:   TLS,
	transport: func(d *dialer, _ Attack) transport {
		return &http.Transport{
			DialContext:        d.dialTo,
			TLSClientConfig:    &tls.Config{InsecureSkipVerify: true}, // classify looks at the certificate
			DisableKeepAlives:  true,
			DisableCompression: true,
		}
	},
}
