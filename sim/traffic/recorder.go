package traffic

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"net/http/httptrace"
	"time"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/event"
)

// recorder sends the requests that vegeta makes over a lane's transport and
// logs what became of each.
type recorder struct {
	attack    Attack
	lane      lane
	schedule  *schedule
	transport http.RoundTripper
	sockets   *dialer
	inFlight  context.Context // ends when the run does, after its grace
}

// RoundTrip logs one event. The answer it returns has no body: it has been read.
func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	shot, err := r.schedule.take(request)
	if err != nil {
		return nil, err
	}
	for _, ours := range []string{ticket, "X-Vegeta-Seq", "Host"} {
		request.Header.Del(ours)
	}
	o := r.send(shot, request)
	if o.err != nil {
		return nil, o.err
	}
	return &http.Response{Request: request, StatusCode: o.status, Header: http.Header{}, Body: http.NoBody}, nil
}

// send performs a request, to the answer's last byte, and logs it.
func (r *recorder) send(s shot, request *http.Request) outcome {
	timeout := r.attack.Timeout
	var lasts time.Duration
	if r.lane.lasts {
		lasts = r.attack.Last
		timeout += lasts
	}
	ctx, cancel := context.WithTimeout(r.inFlight, timeout)
	defer cancel()
	var j journey
	request = request.WithContext(httptrace.WithClientTrace(ctx, j.trace()))
	if r.lane.ask != nil {
		maps.Copy(request.Header, r.lane.ask(r.attack))
	}
	sum := sha256.Sum256(s.body)
	wantBody := func() string { return hex.EncodeToString(sum[:]) }
	if r.lane.grow != nil {
		body := r.lane.grow(r.attack, s.body)
		request.Body, request.ContentLength, request.GetBody = body, -1, nil
		wantBody = body.sum
	}

	sent := time.Now()
	o := r.exchange(request)
	took := time.Since(sent)
	o.by = whoEnded(r.inFlight, ctx)

	o.wantBody, o.wantService, o.wantHost = wantBody(), s.target.Service, s.target.Host
	o.stream, o.took = r.lane.stream, took
	retries := j.tell(&o)
	cause, detail := classify(o)
	serial := ""
	if o.shown != nil {
		serial = o.shown.SerialNumber.Text(16)
	}
	r.attack.Log.Write(event.Event{
		At:      r.attack.Log.At(s.due),
		Subject: r.attack.Subject,
		Request: &event.Request{
			Lane:     r.lane.name,
			Method:   r.lane.method,
			Host:     s.target.Host,
			Service:  s.target.Service,
			Lag:      sent.Sub(s.due),
			Took:     took,
			Status:   o.status,
			Pod:      o.identity.Pod,
			Served:   o.identity.Service,
			State:    string(o.identity.State),
			Retries:  retries,
			Reused:   o.reused,
			Cause:    cause,
			Detail:   detail,
			Lasts:    lasts,
			Messages: o.messages,
			Serial:   serial,
		},
	})
	return o
}

// exchange says what came back.
func (r *recorder) exchange(request *http.Request) outcome {
	if r.lane.talk != nil {
		return r.talked(request)
	}
	response, err := r.transport.RoundTrip(request)
	if err != nil {
		return outcome{err: err}
	}
	defer response.Body.Close()
	read := readAll
	if r.lane.read != nil && response.StatusCode < 300 {
		read = r.lane.read
	}
	got := read(response, r.attack)
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
