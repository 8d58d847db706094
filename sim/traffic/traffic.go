// Package traffic is the load: clients that send requests at a set rate
// whatever becomes of them, one file a kind of client. It stands between a
// scenario's traffic and the event log. Its one rule: each request that was
// due is accounted for, and what went wrong is told apart on the wire, never
// guessed.
package traffic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	Rate    vegeta.Pacer // e.g. vegeta.Rate{Freq: 300, Per: time.Second}
	To      netip.AddrPort
	Targets []Target      // each request chooses one, all alike likely; gRPC has paths of its own and asks only those of whole hosts
	Seed    uint64        // of that choice and of the bodies: the same seed and lane, the same requests
	Timeout time.Duration // from sent to the answer's last byte; 0: 10 s
	// MaxInFlight bounds the requests under way at once; 0: 1,000. A generator
	// at its bound sends late, which shows as Lag.
	MaxInFlight int
	// Last is how long a slow answer, an upload, a download or a stream takes;
	// 0: 2 s. It is added to Timeout.
	Last time.Duration
	// Bytes is the size of an upload or a download; 0: 1 MiB.
	Bytes   int64
	Subject string // of the events
	Log     *event.Log
}

// Target is one thing to ask for.
type Target struct {
	Host    string
	Path    string // "" is "/"
	Service string // namespace/name: the service that must answer
	// To is where this target is, in place of Attack.To: services of TCP and UDP have addresses of their own.
	To netip.AddrPort
}

const (
	defaultTimeout     = 10 * time.Second
	defaultMaxInFlight = 1000
	defaultLast        = 2 * time.Second
	defaultBytes       = 1 << 20
	// grace is how long requests under way when the attack ends may still take.
	grace = time.Second
)

// errEnded is the cause of cancelling what is under way when grace is over.
var errEnded = errors.New("the run ended")

// Run sends requests until ctx is done or the pacer stops, waits for those
// under way, a second at most, and returns when each has its event in the log.
// It is an error when the attack makes no sense; what becomes of the requests
// never is.
func Run(ctx context.Context, a Attack) error {
	lane, err := a.check()
	if err != nil {
		return fmt.Errorf("traffic of lane %q: %w", a.Lane, err)
	}
	inFlight, cancel := cancelAfter(ctx, grace)
	defer cancel(nil)
	sockets := &dialer{lane: a.Lane, subject: a.Subject, log: a.Log, to: a.To}
	transport := lane.open(sockets, a)
	defer transport.CloseIdleConnections()
	defer sockets.end()

	schedule := newSchedule(ctx, a, lane)
	attacker := vegeta.NewAttacker(
		vegeta.MaxWorkers(uint64(a.MaxInFlight)),
		vegeta.Client(&http.Client{
			Transport:     &recorder{attack: a, lane: lane, schedule: schedule, transport: transport, sockets: sockets, inFlight: inFlight},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}),
	)
	for range attacker.Attack(schedule.target, schedule, 0, "") {
		// The recorder has logged it.
	}
	schedule.account()
	return nil
}

// check fills in the defaults and says what is wrong with the attack.
func (a *Attack) check() (lane, error) {
	l, ok := find(a.Lane)
	if l.ownPaths {
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
	case a.Rate == nil:
		return l, errors.New("no rate")
	case a.Last < 0 || a.Bytes < 0:
		return l, fmt.Errorf("requests that last %v and have %d bytes; neither can be below zero", a.Last, a.Bytes)
	}
	if rate, constant := a.Rate.(vegeta.ConstantPacer); constant && (rate.Freq <= 0 || rate.Per <= 0) {
		// To vegeta this is "as fast as you can", which is not an open loop.
		return l, fmt.Errorf("the rate is %v; it must be above zero", rate)
	}
	for _, t := range a.Targets {
		if _, err := http.NewRequest(l.method, a.url(l.door, t), nil); err != nil {
			return l, fmt.Errorf("target %s%s: %w", t.Host, t.Path, err)
		}
	}
	a.Timeout = cmp.Or(a.Timeout, defaultTimeout)
	a.MaxInFlight = cmp.Or(a.MaxInFlight, defaultMaxInFlight)
	a.Last = cmp.Or(a.Last, defaultLast)
	a.Bytes = cmp.Or(a.Bytes, defaultBytes)
	return l, nil
}

// url is what a target is asked for. Over TLS it has the host's name, which is
// also the server's name in the handshake; the client goes to Attack.To for all that.
func (a *Attack) url(door Door, t Target) string {
	if t.Path == "" {
		t.Path = "/"
	}
	if door == TLS {
		return "https://" + t.Host + t.Path
	}
	if t.To.IsValid() {
		return "http://" + t.To.String() + t.Path
	}
	return "http://" + a.To.String() + t.Path
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
