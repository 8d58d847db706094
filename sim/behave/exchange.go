package behave

import (
	"net/http"
	"time"
)

// Exchange is one request as a run recorded it: the answer, or why there is none, and what the pods
// of the case received meanwhile.
type Exchange struct {
	Took     time.Duration
	Failure  string // why there is no answer: a value of Expect.Fails; empty if there is one
	Detail   string // the text of that failure
	Status   int
	Protocol string // of the answer: HTTP/1.1
	Header   http.Header
	Trailer  http.Header
	Body     []byte
	// MaxStreams is how many requests the server accepts at the same time over the connection; 0 with HTTP/1.
	MaxStreams int
	TLS        *Session    // nil without TLS
	Received   []Reception // in the order of arrival
	// Access and Errors are the lines of nginx's logs for this request, if the subject's logs can be
	// read; otherwise LogsUnknown is true.
	Access, Errors []string
	LogsUnknown    bool
}

// Reception is a request that a pod received.
type Reception struct {
	Service  string // without its namespace
	Pod      string // without its namespace
	At       time.Time
	Method   string
	Path     string // with its query, as on the wire
	Host     string
	Protocol string
	Header   http.Header
	Params   map[string]string // FastCGI only
	Body     []byte
	Nth      int // among the requests over its connection, from 1
	SNI      string
	// TLSVersion and TLSCipher are those between nginx and an https pod: 1.3, TLS_AES_128_GCM_SHA256.
	TLSVersion, TLSCipher string
	// ClientCertificate is the subject of the certificate that nginx presented, as in RFC 4514.
	ClientCertificate string
	// Answered reports whether the pod's answer is the one that the client got: only one reception
	// of an exchange is.
	Answered bool
}

// Session describes the TLS connection of a client.
type Session struct {
	Version     string // 1.3
	Cipher      string
	Curve       string // of the key exchange; empty for RSA's
	Protocol    string // ALPN
	Certificate string // a name in the case's certificates; "default" for the controller's own; otherwise its subject
	Chain       int
	OCSP        string // the status in the stapled response: good, revoked; unknown for any other; none without a response
	Resumed     bool
}

// Change is a change as a run recorded it.
type Change struct {
	Reloads        int
	ReloadsUnknown bool   // the subject's reloads cannot be seen
	Rejected       string // the message of the API server; empty if it accepted the objects
	// Errors are the lines of nginx's error log since the change began, unless LogsUnknown is true.
	Errors      []string
	LogsUnknown bool
}
