package backend

import (
	"crypto/tls"
	"errors"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// RequestHeader of an answer is the Number of the record of its request, if the fleet records.
const RequestHeader = "X-Windtunnel-Request"

// MaxBody is how much of a request's body a record keeps, in bytes.
const MaxBody = 1 << 20

// MaxBodies is how much of all bodies a recording keeps, in bytes. Beyond it, the oldest records lose
// their bodies.
const MaxBodies = 32 << 20

// Received is the record of a request that a pod received. It is made when the request arrives, and
// changes until Done.
type Received struct {
	// Seq is the record's place among those of its fleet, from 1.
	Seq int `json:"seq"`
	// Number identifies the record in its fleet, in RequestHeader. It is Seq if the pods run in this
	// process.
	Number  int       `json:"number"`
	Service string    `json:"service"` // namespace/name
	Pod     string    `json:"pod"`     // namespace/name
	Port    int       `json:"port"`    // at which the request arrived
	At      time.Time `json:"at"`      // of the arrival

	// Nth is the place of the request among those over its connection, from 1; 0 with FastCGI.
	Nth int `json:"nth,omitempty"`

	Method string `json:"method"`
	// Path is the path with its query as on the wire; with FastCGI, the parameter REQUEST_URI.
	Path     string `json:"path"`
	Host     string `json:"host"`
	Protocol string `json:"protocol"` // HTTP/1.0, HTTP/1.1, HTTP/2.0 or FastCGI
	// Headers are those that came, with Transfer-Encoding and Trailer, without Host. Their names are
	// in canonical form; those of HTTP/2 and FastCGI have no other.
	Headers http.Header `json:"headers"`
	// Params are the parameters of a FastCGI request; nil otherwise.
	Params map[string]string `json:"params,omitempty"`

	// Body is its beginning, up to MaxBody; nil if later records have MaxBodies.
	Body     []byte `json:"body,omitempty"`
	Length   int64  `json:"length"`   // of the body, as far as the pod has read it
	Complete bool   `json:"complete"` // whether the pod has read the whole body

	SNI        string `json:"sni,omitempty"`
	TLSVersion string `json:"tlsVersion,omitempty"` // such as TLS 1.3; empty without TLS
	TLSCipher  string `json:"tlsCipher,omitempty"`  // its name in package tls
	// ClientCertificate is the subject of the client's certificate, as in RFC 4514.
	ClientCertificate string `json:"clientCertificate,omitempty"`

	WebSocket bool   `json:"websocket,omitempty"` // whether it is a handshake
	GRPC      string `json:"grpc,omitempty"`      // the method of a call: /package.Service/Method

	// Done reports that the pod no longer works on the request: it has answered, or has not because
	// of Failure.
	Done bool `json:"done"`
	// Failure says why the pod gave no answer: the body ended early, the client or the pod has gone,
	// or the script breaks the connection.
	Failure string `json:"failure,omitempty"`
}

// describe returns the record of a request that has just arrived.
func (p *pod) describe(r *http.Request) Received {
	d := Received{
		Service: p.service, Pod: p.name,
		Method: r.Method, Path: r.RequestURI, Host: r.Host, Protocol: r.Proto, Headers: r.Header.Clone(),
		Complete: r.Body == nil || r.Body == http.NoBody,
	}
	if len(r.TransferEncoding) > 0 {
		d.Headers["Transfer-Encoding"] = slices.Clone(r.TransferEncoding)
	}
	if len(r.Trailer) > 0 {
		d.Headers["Trailer"] = []string{strings.Join(slices.Sorted(maps.Keys(r.Trailer)), ", ")}
	}
	switch at := r.Context().Value(http.LocalAddrContextKey).(type) {
	case *net.TCPAddr:
		d.Port = at.Port
	case *net.UDPAddr:
		d.Port = at.Port
	}
	if before, ok := r.Context().Value(requestsKey{}).(*atomic.Int64); ok {
		d.Nth = int(before.Add(1))
	}
	if conn, ok := connOf(r).(*fastcgiConn); ok {
		d.Protocol, d.Params = "FastCGI", conn.params()
		d.Path = d.Params["REQUEST_URI"]
		return d
	}
	if r.TLS != nil {
		d.SNI = r.TLS.ServerName
		d.TLSVersion, d.TLSCipher = tls.VersionName(r.TLS.Version), tls.CipherSuiteName(r.TLS.CipherSuite)
		if chain := r.TLS.PeerCertificates; len(chain) > 0 {
			d.ClientCertificate = chain[0].Subject.String()
		}
	}
	d.WebSocket = websocketProtocol.speaks(r)
	if grpcProtocol.speaks(r) {
		d.GRPC = r.URL.Path
	}
	return d
}

// Recording keeps the records of what pods receive. It is safe for use by many goroutines.
type Recording struct {
	first, keep int

	mu     sync.Mutex
	seq    int
	kept   []*Received // the oldest first
	bodies int         // the length of the bodies of kept
	bare   int         // the Seq of the last record that has lost its body, or is no longer kept
}

// NewRecording returns a recording that keeps the latest records, as many as keep, whose bodies have
// up to MaxBodies bytes together. Numbers begin after first.
func NewRecording(keep, first int) *Recording { return &Recording{keep: keep, first: first} }

// Received returns the kept records with a Seq above since, in the order of arrival. The caller
// must not change what they point to.
func (l *Recording) Received(since int) []Received {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []Received
	for _, r := range l.kept[min(max(since-(l.seq-len(l.kept)), 0), len(l.kept)):] {
		found = append(found, *r)
	}
	return found
}

// reception is a request that is being recorded. It is nil for a pod that does not record.
type reception struct {
	recording *Recording
	record    *Received
}

func (l *Recording) add(record Received) *reception {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.kept) >= l.keep {
		if l.kept[0].Seq > l.bare {
			l.dropBody()
		}
		l.kept[0] = nil
		l.kept = l.kept[1:]
	}
	l.seq++
	record.Seq, record.Number, record.At = l.seq, l.first+l.seq, time.Now()
	l.kept = append(l.kept, &record)
	return &reception{l, &record}
}

// addBody appends to the body of a record, and drops the bodies of the oldest ones beyond MaxBodies.
func (l *Recording) addBody(record *Received, part []byte) {
	if record.Seq <= l.bare {
		return
	}
	part = part[:min(len(part), MaxBody-len(record.Body))]
	// A copy of the record keeps its own length, so that it does not see bytes that are appended
	// later.
	record.Body = append(record.Body, part...)
	l.bodies += len(part)
	for l.bodies > MaxBodies {
		l.dropBody()
	}
}

// dropBody drops the oldest body.
func (l *Recording) dropBody() {
	oldest := l.kept[l.bare-(l.seq-len(l.kept))]
	l.bare = oldest.Seq
	l.bodies -= len(oldest.Body)
	oldest.Body = nil
}

func (r *reception) update(change func(*Received)) {
	if r == nil {
		return
	}
	r.recording.mu.Lock()
	defer r.recording.mu.Unlock()
	change(r.record)
}

func (r *reception) fail(why string) {
	r.update(func(record *Received) { record.Failure = why })
}

// recordedBody is the body of a request, recorded as the pod reads it.
type recordedBody struct {
	io.ReadCloser
	reception *reception
}

func (b recordedBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	b.reception.update(func(record *Received) {
		b.reception.recording.addBody(record, into[:n])
		record.Length += int64(n)
		if errors.Is(err, io.EOF) {
			record.Complete = true
		} else if err != nil && record.Failure == "" {
			record.Failure = "the body ended early: " + err.Error()
		}
	})
	return n, err
}
