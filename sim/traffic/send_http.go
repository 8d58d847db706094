package traffic

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"

	"windtunnel.dev/sim/backend"
)

// httpSender sends the shots of a lane that speaks HTTP.
type httpSender struct {
	recorder
	transport transport
	requests  map[Target]*http.Request // without a body; they are shared, and not to be changed
}

func newHTTPSender(r recorder, t transport) *httpSender {
	h := &httpSender{recorder: r, transport: t, requests: make(map[Target]*http.Request)}
	for _, target := range r.attack.Targets {
		h.requests[target] = h.withoutBody(target)
	}
	return h
}

// withoutBody returns the request for a target. Its context and body are missing.
func (h *httpSender) withoutBody(t Target) *http.Request {
	header := http.Header{}
	if h.lane.http.header != nil {
		header = h.lane.http.header(h.attack).Clone()
	}
	return &http.Request{
		Method: h.lane.http.method, URL: h.attack.url(h.lane.listener, t), Host: t.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
}

// request returns the request of a shot, and a function that returns the checksum of the body that
// has been sent. The context is missing. A request with a body may be sent more than once.
func (h *httpSender) request(s shot) (request *http.Request, sum func() string) {
	request = h.requests[s.target]
	if h.lane.http.grow == nil && s.body == nil {
		return request, func() string { return emptySum }
	}
	own := *request
	if h.lane.http.grow != nil {
		body := h.lane.http.grow(h.attack, s.body)
		own.Body, own.ContentLength = body, -1
		return &own, body.sum
	}
	own.ContentLength = int64(len(s.body))
	own.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(s.body)), nil }
	own.Body, _ = own.GetBody()
	return &own, func() string { return checksum(s.body) }
}

// send sends the request of a shot, reads the answer to its last byte, and logs it.
func (h *httpSender) send(s shot) outcome {
	request, sum := h.request(s)
	return h.record(s, func(ctx context.Context) outcome {
		var trace requestTrace
		o := h.exchange(ctx, request, &trace)
		o.wantBody = sum()
		trace.addTo(&o)
		return o
	})
}

// exchange sends a request and reads the answer.
func (h *httpSender) exchange(ctx context.Context, request *http.Request, trace *requestTrace) outcome {
	response, err := h.transport.perform(ctx, request, trace)
	if err != nil {
		return outcome{err: err}
	}
	defer response.Body.Close()
	read := readAll
	if h.lane.http.read != nil && response.StatusCode < 300 {
		read = h.lane.http.read
	}
	got := read(response, h.attack)
	return outcome{
		err:      got.err,
		status:   response.StatusCode,
		identity: backend.IdentityOf(response.Header),
		body:     got.identity,
		flaw:     got.flaw,
		failed:   got.failed,
		messages: got.messages,
	}
}

// url returns the URL of a target. Over TLS it has the host's name, which is also the server's name
// in the handshake; the client connects to Attack.To or Attack.TLS nevertheless. check has parsed it
// before.
func (a *Attack) url(listener Listener, t Target) *url.URL {
	parsed, _ := url.Parse(a.urlText(listener, t))
	return parsed
}

func (a *Attack) urlText(listener Listener, t Target) string {
	path := t.Path
	if path == "" {
		path = "/"
	}
	if listener == TLS || t.TLS {
		return "https://" + t.Host + path
	}
	return "http://" + a.address(t).String() + path
}

// emptySum is the checksum of a request without a body.
var emptySum = checksum(nil)

// checksum returns the SHA-256 of a body in hexadecimal, as pods do.
func checksum(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
