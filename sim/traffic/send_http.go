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
	urls      map[Target]*url.URL
}

func newHTTPSender(r recorder, t transport) *httpSender {
	h := &httpSender{recorder: r, transport: t, urls: make(map[Target]*url.URL)}
	for _, target := range r.attack.Targets {
		h.urls[target] = h.attack.url(r.lane.listener, target)
	}
	return h
}

// request returns the request of a shot. Its context and body are missing.
func (h *httpSender) request(s shot) *http.Request {
	to := h.urls[s.target]
	if to == nil {
		to = h.attack.url(h.lane.listener, s.target)
	}
	header := http.Header{}
	if h.lane.http.header != nil {
		header = h.lane.http.header(h.attack).Clone()
	}
	return &http.Request{
		Method: h.lane.http.method, URL: to, Host: s.target.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
}

// addBody adds the body to a request, which may be sent more than once, and returns a function that
// returns the checksum of what has been sent.
func (h *httpSender) addBody(request *http.Request, text []byte) (sum func() string) {
	if h.lane.http.grow != nil {
		body := h.lane.http.grow(h.attack, text)
		request.Body, request.ContentLength = body, -1
		return body.sum
	}
	if text == nil {
		return func() string { return emptySum }
	}
	request.ContentLength = int64(len(text))
	request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	request.Body, _ = request.GetBody()
	return func() string { return checksum(text) }
}

// send sends the request of a shot, reads the answer to its last byte, and logs it.
func (h *httpSender) send(s shot) outcome {
	request := h.request(s)
	sum := h.addBody(request, s.body)
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
