// Package traffic generates the load: clients that send requests at a set rate,
// whatever the outcome of earlier ones. Each kind of client is a lane, in the file
// lane_NAME.go. The package stands between a scenario's traffic and the event log.
// Its one rule: each request that was due is accounted for, and the cause of a
// failure is seen on the wire, never guessed.
package traffic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/netip"
	"slices"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"windtunnel.dev/sim/event"
)

// Attack is one lane's load on one address.
type Attack struct {
	Lane    string       // one of Lanes
	Rate    vegeta.Pacer `json:"-"` // e.g. vegeta.Rate{Freq: 300, Per: time.Second}
	To      netip.AddrPort
	TLS     netip.AddrPort // where targets over TLS are reached; needed only if there are some
	Targets []Target       // each request chooses one; lanes whose protocol chooses the paths only use whole hosts
	Zipf    float64        // exponent of Zipf's law, which that choice follows; 0: equal probability
	Seed    uint64         // of that choice and of the bodies: the same seed and lane make the same requests
	Timeout time.Duration  // from sending to the answer's last byte; 0: 10 s
	// MaxInFlight bounds the requests under way at once; 0: 1,000. A generator
	// at this bound sends late, which shows as Lag.
	MaxInFlight int
	// Last is the length of requests, in lanes where the client chooses it; 0: 2 s.
	// It is added to Timeout.
	Last time.Duration
	// Bytes is the size of an upload or a download; 0: 1 MiB.
	Bytes   int64
	Subject string // of the events
	// Start is when the first gap of Rate begins, which may be later; zero: at once.
	Start time.Time `json:"-"`
	// Share is the part of the requests that this generator sends. The zero value is all of them.
	Share Share
	Log   *event.Log `json:"-"`
}

// Target is one thing that requests can ask for.
type Target struct {
	Host    string
	Path    string // "" is "/"
	Service string // namespace/name: the service that must answer
	// Anonymous means that pods do not name themselves in their answers. Any answer below 400 is then
	// a success, and it is unknown whether nginx or a pod gave it. Only for lanes that send a GET.
	Anonymous bool
	// TLS means that clients of every lane ask over TLS, with the host as the name of the server.
	TLS bool
	// To replaces Attack.To for this target: TCP and UDP services have addresses of their own.
	To netip.AddrPort
}

const (
	defaultTimeout     = 10 * time.Second
	defaultMaxInFlight = 1000
	defaultLast        = 2 * time.Second
	defaultBytes       = 1 << 20
	// grace is how long requests that are under way when the run ends may still take.
	grace = time.Second
)

// errEnded is the cause with which requests are cancelled when the grace period is over.
var errEnded = errors.New("the run ended")

// Run sends requests until ctx is done or the pacer stops. It waits for those under way, for at
// most a second, and returns when each has its event in the log. It returns an error if the attack
// is invalid, never because requests fail.
func Run(ctx context.Context, a Attack) error {
	lane, err := a.check()
	if err != nil {
		return fmt.Errorf("traffic of lane %q: %w", a.Lane, err)
	}
	inFlight, cancel := cancelAfter(ctx, grace)
	defer cancel(nil)
	dialer := &dialer{lane: a.Lane, subject: a.Subject, events: a.Log, to: a.To, tls: a.TLS}
	recorder := recorder{attack: a, lane: lane, inFlight: inFlight}
	schedule := newSchedule(ctx, inFlight, a, lane)
	if lane.http == nil {
		sender := exchangeSender{recorder, dialer}
		schedule.sendAll(a.MaxInFlight, func(s shot) { sender.send(s) })
	} else {
		transport := lane.http.transport(dialer, a)
		defer transport.CloseIdleConnections()
		defer dialer.end()
		defer interruptAfter(inFlight, transport)()
		sender := newHTTPSender(recorder, transport)
		schedule.sendAll(a.MaxInFlight, func(s shot) { sender.send(s) })
	}
	schedule.account()
	return nil
}

// check fills in the defaults and returns what is wrong with the attack.
func (a *Attack) check() (lane, error) {
	l, ok := find(a.Lane)
	if l.http != nil && l.http.ownPaths {
		a.Targets = slices.DeleteFunc(slices.Clone(a.Targets), func(t Target) bool { return t.Path != "" && t.Path != "/" })
	}
	switch {
	case !ok:
		return l, fmt.Errorf("no such lane; there are %v", Lanes())
	case a.Log == nil:
		return l, errors.New("no log to write to")
	case !a.To.IsValid():
		return l, errors.New("no address to send to")
	case len(a.Targets) == 0:
		return l, errors.New("no targets")
	case !a.TLS.IsValid() && slices.ContainsFunc(a.Targets, func(t Target) bool { return t.TLS }):
		return l, errors.New("no address for targets over TLS")
	case a.Rate == nil:
		return l, errors.New("no rate")
	case !a.Share.valid():
		return l, fmt.Errorf("share %d of %d: want an index from 0, below the number of generators", a.Share.Index, a.Share.Of)
	case !(a.Zipf >= 0) || math.IsInf(a.Zipf, 1):
		return l, fmt.Errorf("an exponent of Zipf's law of %v; it must be a number from 0", a.Zipf)
	case a.Last < 0 || a.Bytes < 0:
		return l, fmt.Errorf("requests that last %v and have %d bytes; neither can be below zero", a.Last, a.Bytes)
	}
	if rate, constant := a.Rate.(vegeta.ConstantPacer); constant && (rate.Freq <= 0 || rate.Per <= 0) {
		// vegeta takes this for "as fast as possible", which is not an open loop.
		return l, fmt.Errorf("the rate is %v; it must be above zero", rate)
	}
	if l.http != nil {
		for _, t := range a.Targets {
			if _, err := http.NewRequest(l.http.method, a.urlText(l.listener, t), nil); err != nil {
				return l, fmt.Errorf("target %s%s: %w", t.Host, t.Path, err)
			}
		}
	}
	a.Timeout = cmp.Or(a.Timeout, defaultTimeout)
	a.MaxInFlight = cmp.Or(a.MaxInFlight, defaultMaxInFlight)
	a.Last = cmp.Or(a.Last, defaultLast)
	a.Bytes = cmp.Or(a.Bytes, defaultBytes)
	return l, nil
}

// address returns where a target is reached without TLS.
func (a *Attack) address(t Target) netip.AddrPort {
	if t.To.IsValid() {
		return t.To
	}
	return a.To
}

// cancelAfter returns a context that is cancelled this long after ctx is done.
func cancelAfter(ctx context.Context, d time.Duration) (context.Context, context.CancelCauseFunc) {
	after, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(d, func() { cancel(errEnded) })
		context.AfterFunc(after, func() { timer.Stop() })
	})
	return after, func(cause error) {
		stop()
		cancel(cause)
	}
}
