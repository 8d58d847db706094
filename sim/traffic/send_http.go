package traffic

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"windtunnel.dev/sim/backend"
)

// httpSender sends the shots of a lane that speaks HTTP through vegeta's attacker. It is vegeta's
// pacer, targeter and transport at once.
type httpSender struct {
	recorder
	schedule  *schedule
	transport transport
	queue     chan shot // from the pacer to the targeter
}

func newHTTPSender(r recorder, s *schedule, t transport) *httpSender {
	// Each of vegeta's workers asks for at most one shot at a time, and the pacer is one ahead.
	return &httpSender{recorder: r, schedule: s, transport: t, queue: make(chan shot, r.attack.MaxInFlight+1)}
}

// run sends every shot of the schedule, and returns when all requests have ended.
func (h *httpSender) run() {
	attacker := vegeta.NewAttacker(
		vegeta.MaxWorkers(uint64(h.attack.MaxInFlight)),
		vegeta.Client(&http.Client{
			Transport:     h,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}),
	)
	for range attacker.Attack(h.target, h, 0, "") {
		// RoundTrip has logged it.
	}
}

// Pace returns when the next shot is due: vegeta has nothing to wait for.
func (h *httpSender) Pace(time.Duration, uint64) (wait time.Duration, stop bool) {
	s, ok := h.schedule.await()
	if ok {
		h.queue <- s
	}
	return 0, !ok
}

// Rate returns the rate of the attack's pacer. vegeta's interface needs it; its attacker does not.
func (h *httpSender) Rate(elapsed time.Duration) float64 { return h.attack.Rate.Rate(elapsed) }

// target is a vegeta.Targeter. vegeta calls it once after each shot of the pacer.
func (h *httpSender) target(t *vegeta.Target) error {
	h.fill(t, <-h.queue)
	return nil
}

// fill describes the request of a shot to vegeta. The URL's fragment is the shot's number: clients
// do not send fragments (RFC 3986, section 3.5).
func (h *httpSender) fill(t *vegeta.Target, s shot) {
	t.Method = h.lane.http.method
	t.URL = h.attack.url(h.lane.listener, s.target) + "#" + strconv.FormatUint(s.number, 10)
	t.Body = s.body
	t.Header = http.Header{"Host": {s.target.Host}}
	if h.lane.http.header != nil {
		maps.Copy(t.Header, h.lane.http.header(h.attack))
	}
}

// RoundTrip sends a request of vegeta's and logs one event. The answer that it returns has no body:
// it has been read.
func (h *httpSender) RoundTrip(request *http.Request) (*http.Response, error) {
	number, err := strconv.ParseUint(request.URL.Fragment, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("a request that was not scheduled: %w", err)
	}
	s, err := h.schedule.take(number)
	if err != nil {
		return nil, err
	}
	o := h.send(s, request)
	if o.err != nil {
		return nil, o.err
	}
	return &http.Response{Request: request, StatusCode: o.status, Header: http.Header{}, Body: http.NoBody}, nil
}

// send sends the request of a shot, reads the answer to its last byte, and logs it.
func (h *httpSender) send(s shot, request *http.Request) outcome {
	request.URL.Fragment = ""
	for _, unsent := range []string{"X-Vegeta-Seq", "Host"} { // net/http sends request.Host
		request.Header.Del(unsent)
	}
	wantBody := func() string { return checksum(s.body) }
	if h.lane.http.grow != nil {
		body := h.lane.http.grow(h.attack, s.body)
		request.Body, request.ContentLength, request.GetBody = body, -1, nil
		wantBody = body.sum
	}
	return h.record(s, func(ctx context.Context) outcome {
		var trace requestTrace
		request := request.WithContext(httptrace.WithClientTrace(ctx, trace.hooks()))
		o := h.exchange(request)
		o.wantBody = wantBody()
		trace.addTo(&o)
		return o
	})
}

// exchange sends a request and reads the answer.
func (h *httpSender) exchange(request *http.Request) outcome {
	response, err := h.transport.RoundTrip(request)
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
// in the handshake; the client connects to Attack.To or Attack.TLS nevertheless.
func (a *Attack) url(listener Listener, t Target) string {
	path := t.Path
	if path == "" {
		path = "/"
	}
	if listener == TLS || t.TLS {
		return "https://" + t.Host + path
	}
	return "http://" + a.address(t).String() + path
}

// checksum returns the SHA-256 of a body in hexadecimal, as pods do.
func checksum(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}
