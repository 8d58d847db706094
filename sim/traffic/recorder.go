package traffic

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
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
	ctx, cancel := context.WithTimeout(r.inFlight, r.attack.Timeout)
	defer cancel()
	var j journey
	request = request.WithContext(httptrace.WithClientTrace(ctx, j.trace()))

	sent := time.Now()
	o := r.exchange(request)
	took := time.Since(sent)

	sum := sha256.Sum256(s.body)
	o.wantBody, o.wantService = hex.EncodeToString(sum[:]), s.target.Service
	retries := j.tell(&o)
	cause, detail := classify(o)
	r.attack.Log.Write(event.Event{
		At:      r.attack.Log.At(s.due),
		Subject: r.attack.Subject,
		Request: &event.Request{
			Lane:    r.lane.name,
			Method:  request.Method,
			Host:    s.target.Host,
			Service: s.target.Service,
			Lag:     sent.Sub(s.due),
			Took:    took,
			Status:  o.status,
			Pod:     o.identity.Pod,
			Served:  o.identity.Service,
			State:   string(o.identity.State),
			Retries: retries,
			Reused:  o.reused,
			Cause:   cause,
			Detail:  detail,
		},
	})
	return o
}

// exchange says what came back.
func (r *recorder) exchange(request *http.Request) outcome {
	response, err := r.transport.RoundTrip(request)
	if err != nil {
		return outcome{err: err}
	}
	defer response.Body.Close()
	var body bytes.Buffer
	_, err = io.Copy(&body, response.Body)
	return outcome{
		err:      err,
		status:   response.StatusCode,
		identity: backend.IdentityOf(response.Header),
		body:     body.Bytes(),
	}
}
