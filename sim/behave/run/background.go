package run

import (
	"context"
	"slices"
	"strconv"
	"time"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/ask"
)

// background is a request that is answered while the next steps run.
type background struct {
	step  int // its index
	since int // the last record of the fleet before it
	done  chan struct{}

	exchanges []behave.Exchange // once it is done
	err       error
}

// begin sends the request of a step. It returns when a pod has received the request, when the
// request is answered, or when neither is expected any more.
func (s *stay) begin(ctx context.Context, step behave.Step) error {
	since, err := s.last()
	if err != nil {
		return err
	}
	b := &background{step: len(s.records), since: since, done: make(chan struct{})}
	s.backgrounds = append(s.backgrounds, b)
	s.records = append(s.records, behave.Record{}) // finish fills it in
	go func() {
		defer close(b.done)
		b.exchanges, b.err = ask.Send(ctx, s.target(), step.Request)
	}()
	limit := time.After(arrival)
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for {
		records, err := s.fleet.Received(since)
		if err != nil || slices.ContainsFunc(records, func(r backend.Received) bool { return s.owns(r.Service) }) {
			return err
		}
		select {
		case <-ticker.C:
		case <-limit:
			return nil
		case <-b.done:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// finish waits for the answers to all requests in the background, and adds to them what the pods that
// answered received.
func (s *stay) finish() error {
	for _, b := range s.backgrounds {
		<-b.done
		if b.err != nil {
			return b.err
		}
		received, err := s.fleet.Received(b.since)
		if err != nil {
			return err
		}
		assign(b.exchanges, slices.DeleteFunc(received, func(r backend.Received) bool { return !s.owns(r.Service) || !b.names(r) }))
		for i := range b.exchanges {
			b.exchanges[i].LogsUnknown = true // the logs also have lines of other steps
		}
		s.records[b.step].Exchanges = b.exchanges
	}
	return nil
}

// names reports whether an answer names a record of the fleet.
func (b *background) names(r backend.Received) bool {
	return slices.ContainsFunc(b.exchanges, func(e behave.Exchange) bool {
		return slices.Contains(e.Header.Values(backend.RequestHeader), strconv.Itoa(r.Number))
	})
}
