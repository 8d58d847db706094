package traffic

import (
	"context"
	"time"

	"windtunnel.dev/sim/event"
)

// recorder times the requests of one attack and logs the outcome of each, whatever protocol the
// lane speaks.
type recorder struct {
	attack   Attack
	lane     lane
	inFlight context.Context // ends when the grace period after the run is over
}

// record performs one request with send, logs it and returns its outcome. Send returns when the
// answer is complete, at the latest when its context ends.
func (r *recorder) record(s shot, send func(context.Context) outcome) outcome {
	timeout := r.attack.Timeout
	var lasts time.Duration
	if r.lane.lasts {
		lasts = r.attack.Last
		timeout += lasts
	}
	sent := time.Now()
	ctx := withDeadline(r.inFlight, sent.Add(timeout))
	defer ctx.cancel()
	o := send(ctx)
	took := time.Since(sent)
	o.by = whoEnded(r.inFlight, ctx)
	o.wantService, o.wantHost = s.target.Service, s.target.Host
	o.stream, o.took, o.anonymous = r.lane.stream, took, s.target.Anonymous

	cause, detail := classify(o)
	method, serial := "", ""
	if r.lane.http != nil {
		method = r.lane.http.method
	}
	if o.shown != nil {
		serial = o.shown.SerialNumber.Text(16)
	}
	r.attack.Log.Write(event.Event{
		At:      r.attack.Log.At(s.due),
		Subject: r.attack.Subject,
		Request: &event.Request{
			Lane:     r.lane.name,
			Method:   method,
			Host:     s.target.Host,
			Service:  s.target.Service,
			Lag:      sent.Sub(s.due),
			Took:     took,
			Status:   o.status,
			Pod:      o.identity.Pod,
			Served:   o.identity.Service,
			State:    string(o.identity.State),
			Retries:  o.retries,
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
