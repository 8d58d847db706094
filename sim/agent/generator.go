package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/traffic"
)

// generator sends the requests of one round at a time.
type generator struct {
	log   *event.Log
	start time.Time // of the agent's clock

	mu   sync.Mutex
	stop context.CancelFunc // nil: it sends nothing
	sent chan struct{}      // closed when all requests have ended
	errs []error
}

// beginOrder is the body of POST /traffic/begin.
type beginOrder struct {
	Orders []traffic.Order `json:"orders"`
	At     time.Duration   `json:"at"` // by the agent's clock: the start of all attacks
}

func (g *generator) handle(mux *http.ServeMux, guard func(http.HandlerFunc) http.HandlerFunc) {
	mux.HandleFunc("POST /traffic/begin", guard(order(func(_ context.Context, o beginOrder) (nothing, error) { return nothing{}, g.begin(o) })))
	mux.HandleFunc("POST /traffic/end", guard(order(func(context.Context, nothing) (nothing, error) { return nothing{}, g.end() })))
}

// begin begins to send, and returns at once.
func (g *generator) begin(o beginOrder) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stop != nil {
		return errors.New("the requests of another round are being sent")
	}
	ctx, stop := context.WithCancel(context.Background())
	g.stop, g.sent, g.errs = stop, make(chan struct{}), nil
	var attacks sync.WaitGroup
	for _, one := range o.Orders {
		one.Log, one.Start = g.log, g.start.Add(o.At)
		attacks.Go(func() {
			if err := one.Run(ctx); err != nil {
				g.mu.Lock()
				defer g.mu.Unlock()
				g.errs = append(g.errs, fmt.Errorf("lane %s: %w", one.Lane, err))
			}
		})
	}
	sent := g.sent
	go func() { attacks.Wait(); close(sent) }()
	return nil
}

// end stops sending and waits until the events of all requests are in the log. It returns the errors of
// attacks that could not be carried out.
func (g *generator) end() error {
	g.mu.Lock()
	stop, sent := g.stop, g.sent
	g.mu.Unlock()
	if stop == nil {
		return nil
	}
	stop()
	<-sent
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stop = nil
	return errors.Join(g.errs...)
}
