package event

import "time"

// Request is one request of a traffic lane, logged when it ends. The event's At is the time at
// which it was due: the latency from its intent is Lag + Took.
type Request struct {
	Lane    string        `json:"lane"` // http, post …
	Method  string        `json:"method"`
	Host    string        `json:"host"`
	Service string        `json:"service"`           // the service the host routes to
	Lag     time.Duration `json:"lag"`               // how long after At it was sent: the generator's own delay
	Took    time.Duration `json:"took"`              // from sending to the last byte of the response
	Status  int           `json:"status,omitempty"`  // 0 if there was no response
	Pod     string        `json:"pod,omitempty"`     // the pod that answered: namespace/name
	Served  string        `json:"served,omitempty"`  // the service of that pod
	State   string        `json:"state,omitempty"`   // the pod's state when it answered
	Retries int           `json:"retries,omitempty"` // retries by the HTTP client, invisible to its caller
	Reused  bool          `json:"reused,omitempty"`  // sent on a connection that had served a request before
	Cause   Cause         `json:"cause,omitempty"`   // why it failed; "" if it did not
	Detail  string        `json:"detail,omitempty"`  // the text of the error
	// Lasts is the duration that the client chose for a stream, a slow response or a slow body. 0
	// means that the request ends with its response.
	Lasts time.Duration `json:"lasts,omitempty"`
	// Messages counts the messages received on a stream: server-sent events or websocket messages.
	Messages int `json:"messages,omitempty"`
	// Serial is the serial number, in lower-case hexadecimal, of the certificate that nginx sent.
	Serial string `json:"serial,omitempty"`
}

// Cause is why a request failed, as observed on the wire.
type Cause string

// The causes. A failed request has exactly one. Unknown is a bug of the harness.
const (
	IdleClose  Cause = "idle-close"    // a reused connection was closed by FIN, without any byte of a response
	Reset      Cause = "reset"         // RST while the request was in flight
	Refused    Cause = "refused"       // nothing listened
	EOF        Cause = "eof"           // a new connection was closed before the response began
	Truncated  Cause = "truncated"     // the response ended early, by FIN or RST after its first byte
	StreamCut  Cause = "stream-cut"    // the other side ended an established stream too early
	Corrupted  Cause = "corrupted"     // the response is complete but differs from what was sent
	Timeout    Cause = "timeout"       // no response in time
	NginxError Cause = "nginx-5xx"     // a 5xx from nginx itself (no pod answered)
	AnyError   Cause = "5xx"           // a 5xx of a host whose pods do not say who they are: from nginx or from a pod
	AnyOther   Cause = "4xx"           // likewise, a 4xx
	PodError   Cause = "pod-5xx"       // a 5xx from a pod
	NotFound   Cause = "not-found"     // a 404 from nginx: no such host or path
	NginxOther Cause = "nginx-other"   // another response without success from nginx: 3xx, 4xx
	PodOther   Cause = "pod-other"     // such a response from a pod
	WrongPod   Cause = "wrong-pod"     // a pod of another service answered
	GonePod    Cause = "gone-pod"      // a pod that was gone when the request arrived answered, over a keepalive connection
	Handshake  Cause = "tls-handshake" // the TLS handshake failed: an alert, or an answer that is not TLS
	WrongCert  Cause = "wrong-cert"    // the certificate is not for the host; a client that verifies it closes the connection
	OurDialing Cause = "our-dialing"   // the generator could not open a socket: its own failure
	OurCancel  Cause = "our-cancel"    // the run ended while the request was in flight: not the subject's fault
	Unknown    Cause = "unknown"
)

// Socket is a connection that a lane opened or, if Opened is false, lost.
type Socket struct {
	Lane   string `json:"lane"`
	Opened bool   `json:"opened"`
}
