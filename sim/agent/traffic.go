package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/traffic"
)

// Traffic is the generators of one subject: agents that share its requests.
type Traffic struct {
	peers   []*Peer
	log     *event.Log
	subject string

	following context.CancelFunc // of their clocks, during a round
	followed  *sync.WaitGroup

	end   context.CancelFunc // of the requests that keep them alive
	alive sync.WaitGroup
}

// NewTraffic returns generators that share requests by their order. It keeps them alive between rounds,
// until Close.
func NewTraffic(peers []*Peer, log *event.Log, subject string) *Traffic {
	ctx, end := context.WithCancel(context.Background())
	t := &Traffic{peers: peers, log: log, subject: subject, end: end}
	for _, p := range peers {
		t.alive.Go(func() { p.keepAlive(ctx) })
	}
	return t
}

// Close lets the generators end. It does not wait for them.
func (t *Traffic) Close() {
	t.end()
	t.alive.Wait()
}

// lead is how long before its start a round is announced, so that all generators know it in time.
const lead = time.Second

// Begin makes the generators send requests from a common time on, which is a moment ahead, and
// returns this time. It measures the generators' clocks first. After an error, even that of an interrupt,
// none of them sends.
func (t *Traffic) Begin(ctx context.Context, orders []traffic.Order) (start time.Duration, err error) {
	if err := t.each(func(p *Peer) error { return p.MeasureClock(ctx) }); err != nil {
		return 0, err
	}
	start = t.log.Now() + lead
	err = t.each(func(p *Peer) error {
		return p.call(ctx, http.MethodPost, "/traffic/begin", beginOrder{Orders: t.shared(orders, p), At: p.theirs(start)}, &nothing{})
	})
	if err != nil {
		return 0, errors.Join(err, t.End(context.WithoutCancel(ctx)))
	}
	if late := t.log.Now(); late > start {
		return 0, errors.Join(fmt.Errorf("the traffic pods knew of their start %v too late: is the API server busy?", late-start), t.End(context.WithoutCancel(ctx)))
	}
	following, end := context.WithCancel(context.WithoutCancel(ctx))
	t.following, t.followed = end, &sync.WaitGroup{}
	for _, p := range t.peers {
		t.followed.Go(func() { p.followClock(following) })
	}
	return start, nil
}

// shared returns the orders with the share of one generator.
func (t *Traffic) shared(orders []traffic.Order, of *Peer) []traffic.Order {
	all := make([]traffic.Order, len(orders))
	for i, p := range t.peers {
		if p == of {
			for n, one := range orders {
				one.Share = traffic.Share{Index: i, Of: len(t.peers)}
				all[n] = one
			}
		}
	}
	return all
}

// End stops the requests, and writes their events to the log. It reports events that a generator
// cannot deliver as missing.
func (t *Traffic) End(ctx context.Context) error {
	if t.following != nil {
		t.following()
		t.followed.Wait()
		t.following = nil
	}
	_ = t.each(func(p *Peer) error {
		if err := p.call(ctx, http.MethodPost, "/traffic/end", nothing{}, &nothing{}); err != nil {
			t.log.Write(event.Event{At: t.log.Now(), Subject: t.subject, Missing: &event.Missing{What: "requests of pod " + p.at.Pod, Why: err.Error()}})
		}
		return nil
	})
	return Gather(ctx, t.log, t.subject, event.TrafficClock, t.peers)
}

// each calls do for all generators at once, and returns all errors.
func (t *Traffic) each(do func(*Peer) error) error {
	errs := make([]error, len(t.peers))
	var all errgroup.Group
	for i, p := range t.peers {
		all.Go(func() error { errs[i] = do(p); return nil })
	}
	_ = all.Wait() // no error
	return errors.Join(errs...)
}
