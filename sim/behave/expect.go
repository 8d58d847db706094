package behave

import "time"

// Expect is what must hold of an answer or, if a request is sent several times, of the answers.
// Fields that are not set are not checked.
type Expect struct {
	// The status, or a list of which one must be answered.
	Status Statuses `yaml:"status,omitempty"`
	// The headers. null means that there is no such header.
	Headers map[string]Match `yaml:"headers,omitempty"`
	// The names of further headers that the answer may have; it must have no others. Headers of pods, of the connection, and those that vary do not count.
	OtherHeaders *[]string `yaml:"other-headers,omitempty"`
	// The body. null means that it is empty.
	Body *Match `yaml:"body,omitempty"`
	// The cookies that the answer sets, by name. null means that it does not set it.
	Cookies map[string]*Cookie `yaml:"cookies,omitempty"`
	// The service whose pod answered, or none.
	Service string `yaml:"service,omitempty"`
	// What the pod that answered received.
	Pod *Received `yaml:"pod,omitempty"`
	// What pods received for the request without giving the answer (auth service, mirror, error backend, a failed try), by service, in order. An empty list means nothing.
	Received map[string][]Received `yaml:"received,omitempty"`
	// The version of HTTP of the answer.
	HTTP string `yaml:"http,omitempty" jsonschema:"enum=1.0,enum=1.1,enum=2"`
	// How many requests the server accepts at the same time over the connection, with HTTP/2.
	MaxStreams int `yaml:"max-streams,omitempty" jsonschema:"minimum=1"`
	// What the client saw of TLS.
	TLS *ServerTLS `yaml:"tls,omitempty"`
	// That there is no answer, and why: the connection is refused, closed or reset (ended: closed or reset); the answer takes longer than the timeout; or TLS fails.
	Fails string `yaml:"fails,omitempty" jsonschema:"enum=refused,enum=closed,enum=reset,enum=ended,enum=timeout,enum=tls"`
	// How long the answer took.
	Took *Range `yaml:"took,omitempty"`
	// Of several answers: the share of each service, from 0 to 1. The run fails if chance alone would explain the counts in less than one of a million runs.
	Shares map[string]float64 `yaml:"shares,omitempty"`
	// Of several answers: how many have each status.
	Statuses map[int]Count `yaml:"statuses,omitempty"`
	// Of several answers: that all come from the same pod, or from several.
	SamePod *bool `yaml:"same-pod,omitempty"`
	// Lines of nginx's access log for the request; if it is sent several times, for all of them.
	AccessLog *Lines `yaml:"access-log,omitempty"`
	// Lines of nginx's error log since the step began.
	ErrorLog *Lines `yaml:"error-log,omitempty"`
	// After a change: whether nginx was reloaded.
	Reload *bool `yaml:"reload,omitempty"`
	// After apply: whether the API server, or a webhook of the controller, rejects the object, with this message.
	Rejected *Match `yaml:"rejected,omitempty"`
}

// Match is a condition on a text. In a file, it is the text itself, null for an absent text, or a mapping of conditions that must all hold. A header that is sent several times never equals a text; contains and matches must hold for one of its values, lacks for all of them.
type Match struct {
	Absent bool `yaml:"-"`
	// The whole text.
	Equals *string `yaml:"equals,omitempty"`
	// A part of the text.
	Contains string `yaml:"contains,omitempty"`
	// A regular expression of Go, anywhere in the text.
	Matches string `yaml:"matches,omitempty"`
	// What must not be in the text.
	Lacks string `yaml:"lacks,omitempty"`
	// All values, in order, of a header that is sent several times.
	Values []string `yaml:"values,omitempty"`
}

// Cookie is a cookie with its attributes. An attribute that is not given is not checked.
type Cookie struct {
	// Its value.
	Value *Match `yaml:"value,omitempty"`
	// Its path. null means that the attribute is absent, here and below.
	Path *Match `yaml:"path,omitempty"`
	// Its domain.
	Domain *Match `yaml:"domain,omitempty"`
	// When it expires, as sent.
	Expires *Match `yaml:"expires,omitempty"`
	// How long it is kept, in seconds. 0 or less is 0.
	MaxAge *Match `yaml:"max-age,omitempty"`
	// Lax, Strict or None.
	SameSite *Match `yaml:"same-site,omitempty"`
	// Whether it has the attribute Secure.
	Secure *bool `yaml:"secure,omitempty"`
	// Whether it has the attribute HttpOnly.
	HTTPOnly *bool `yaml:"http-only,omitempty"`
}

// Received is what a pod received.
type Received struct {
	// The method.
	Method *Match `yaml:"method,omitempty"`
	// The path with its query, as on the wire.
	Path *Match `yaml:"path,omitempty"`
	// The Host header.
	Host *Match `yaml:"host,omitempty"`
	// The headers, besides Host. null means that there is no such header.
	Headers map[string]Match `yaml:"headers,omitempty"`
	// The names of further headers that the request may have; it must have no others. Headers of the client, of the connection, and those that vary do not count.
	OtherHeaders *[]string `yaml:"other-headers,omitempty"`
	// The body. null means that it is empty.
	Body *Match `yaml:"body,omitempty"`
	// The protocol: HTTP/1.0, HTTP/1.1, HTTP/2.0, FastCGI.
	Protocol string `yaml:"protocol,omitempty"`
	// The parameters of a FastCGI request.
	Params map[string]Match `yaml:"params,omitempty"`
	// The server name that nginx sent to an https pod. null means none.
	SNI *Match `yaml:"sni,omitempty"`
	// The place of the request among those over its connection to the pod: 1 for a new connection.
	Nth int `yaml:"nth,omitempty" jsonschema:"minimum=1"`
	// The version of TLS between nginx and an https pod.
	TLSVersion string `yaml:"tls-version,omitempty" jsonschema:"enum=1.0,enum=1.1,enum=1.2,enum=1.3"`
	// The cipher suite between nginx and an https pod, by its name in Go.
	TLSCipher *Match `yaml:"tls-cipher,omitempty"`
	// The subject of the certificate that nginx presented to an https pod. null means none.
	ClientCertificate *Match `yaml:"client-certificate,omitempty"`
}

// ServerTLS is what a client sees of TLS.
type ServerTLS struct {
	// The certificate that was served, by its name in certificates, or default for the controller's own.
	Certificate string `yaml:"certificate,omitempty"`
	// The version: 1.2.
	Version string `yaml:"version,omitempty" jsonschema:"enum=1.0,enum=1.1,enum=1.2,enum=1.3"`
	// The cipher suite, by its name in Go.
	Cipher *Match `yaml:"cipher,omitempty"`
	// The curve of the key exchange, by its name in Go.
	Curve *Match `yaml:"curve,omitempty"`
	// The number of certificates in the chain.
	Chain int `yaml:"chain,omitempty" jsonschema:"minimum=1"`
	// The status of the certificate in the OCSP response that is stapled: good, revoked, or none if there is no response.
	OCSP string `yaml:"ocsp,omitempty" jsonschema:"enum=good,enum=revoked,enum=none"`
	// Of several answers: whether each connection but the first resumes the session of an earlier one.
	Resumes *bool `yaml:"resumes,omitempty"`
}

// Range is a range of durations.
type Range struct {
	// The shortest.
	Min time.Duration `yaml:"min,omitempty"`
	// The longest.
	Max time.Duration `yaml:"max,omitempty"`
}

// Lines is a condition on lines of a log.
type Lines struct {
	// The number of lines that match. Default: one or more.
	Count *Count `yaml:"count,omitempty"`
	// A regular expression of Go. Default: every line matches.
	Matches string `yaml:"matches,omitempty"`
}
