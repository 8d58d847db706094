package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"windtunnel.dev/sim/clock"
	"windtunnel.dev/sim/event"
)

// Peer is the harness's side of one agent. It is safe for use by many goroutines.
type Peer struct {
	at     At
	log    *event.Log // of the run
	track  clock.Track
	wall   time.Duration // offset of the node's time of day from ours, as last measured
	mu     sync.Mutex    // guards track and wall
	reader segments
}

// At says where an agent is, and how it is reached.
type At struct {
	Pod, Node string
	URL       string       // of its API, such as that of the API server's proxy
	Client    *http.Client // that may use the proxy
	Token     string
	// Gone returns why the pod no longer runs. It returns nil while the pod runs, or if the reason
	// is not known. Gone may be nil.
	Gone func(context.Context) error
}

// NewPeer returns the peer of an agent. The clock of log is the reference for the agent's clock.
func NewPeer(at At, log *event.Log) *Peer { return &Peer{at: at, log: log} }

// Pod returns the name of the agent's pod.
func (p *Peer) Pod() string { return p.at.Pod }

// orderTimeout limits the time of an order. An order that ends a round waits for requests in flight.
const orderTimeout = 30 * time.Second

// call sends a request, with a body if in is not nil, and decodes the answer into a pointer.
func (p *Peer) call(ctx context.Context, method, path string, in, out any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, orderTimeout, fmt.Errorf("no answer within %v", orderTimeout))
	defer cancel()
	answer, err := p.do(ctx, method, path, in)
	if err != nil {
		return p.explain(ctx, path, err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(out); err != nil {
		return p.explain(ctx, path, err)
	}
	return nil
}

// ErrOldAgent is the error of a request that the agent does not know, because it is of an older version.
var ErrOldAgent = errors.New("the agent does not have this endpoint: its image is older than this windtunnel")

// noHandler is what http.ServeMux, and so an agent, answers to a request that it does not know. An API server
// that does not find the pod answers with an object instead.
const noHandler = "404 page not found"

// do sends a request. It returns an error if the status of the answer is not 200.
func (p *Peer) do(ctx context.Context, method, path string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, err
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequestWithContext(ctx, method, p.at.URL+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set(TokenHeader, p.at.Token)
	answer, err := p.at.Client.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return nil, err
	}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<12)) // the reason, if there is one
	if answer.StatusCode == http.StatusNotFound && string(bytes.TrimSpace(text)) == noHandler {
		return nil, ErrOldAgent
	}
	return nil, fmt.Errorf("%s: %s", answer.Status, bytes.TrimSpace(text))
}

// explain adds the pod and the path to the error of a request and, if known, why the pod no longer runs.
func (p *Peer) explain(ctx context.Context, path string, err error) error {
	err = fmt.Errorf("pod %s, %s: %w", p.at.Pod, strings.TrimPrefix(path, "/"), err)
	if p.at.Gone == nil {
		return err
	}
	if gone := p.at.Gone(context.WithoutCancel(ctx)); gone != nil {
		return fmt.Errorf("%w; %w", gone, err)
	}
	return err
}

// exchanges is the number of exchanges in a measurement of the clock: enough for some to be quick on a
// busy network.
const exchanges = 25

// MeasureClock measures how the agent's clock relates to that of the log. It returns an error if no
// exchange succeeded.
func (p *Peer) MeasureClock(ctx context.Context) error {
	var all []clock.Exchange
	var failed error
	var wall, quickest time.Duration
	for range exchanges {
		var theirs now
		sent, began := p.log.Now(), time.Now()
		if failed = p.call(ctx, http.MethodGet, "/clock", nil, &theirs); failed != nil {
			break
		}
		received := p.log.Now()
		all = append(all, clock.Exchange{Sent: sent, Received: received, Theirs: theirs.At})
		if took := received - sent; quickest == 0 || took < quickest {
			quickest, wall = took, theirs.Wall.Sub(began.Round(0))-took/2
		}
	}
	sample, err := clock.Best(all)
	if err != nil {
		return errors.Join(failed, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.track, p.wall = p.track.Add(sample), wall
	return nil
}

// Clock returns what is known about the agent's clock.
func (p *Peer) Clock(role event.ClockRole) event.Clock {
	p.mu.Lock()
	defer p.mu.Unlock()
	return event.Clock{Pod: p.at.Pod, Node: p.at.Node, Role: role, Offset: p.wall, Drift: p.track.Drift(), Bound: p.track.Bound()}
}

// Ours converts a time of day of the agent's node to the harness's time of day.
func (p *Peer) Ours(theirs time.Time) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return theirs.Add(-p.wall)
}

// restartClock drops all samples but the last, so that each round has its own bound.
func (p *Peer) restartClock() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.track); n > 0 {
		p.track = p.track[n-1:]
	}
}

// theirs returns what the agent's clock shows at a time of the log.
func (p *Peer) theirs(ours time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.track.Theirs(ours)
}

// ours returns the time of the log at which the agent's clock showed a time.
func (p *Peer) ours(theirs time.Duration) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(0, p.track.Ours(theirs))
}

// clockEvery is how often clocks are measured during a round.
const clockEvery = 5 * time.Second

// followClock measures the clock until ctx ends, because its drift may vary. It skips measurements that
// fail, because the next one may succeed.
func (p *Peer) followClock(ctx context.Context) {
	repeat(ctx, clockEvery, func() { _ = p.MeasureClock(ctx) })
}

// keepAlive asks the agent for something, more often than its lease requires, until ctx ends. It skips
// requests that fail, because the next round notices if the agent has ended.
func (p *Peer) keepAlive(ctx context.Context) {
	repeat(ctx, Lease/4, func() { _ = p.call(ctx, http.MethodGet, "/clock", nil, &now{}) })
}

// repeat calls do at each interval until ctx ends.
func repeat(ctx context.Context, interval time.Duration, do func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			do()
		}
	}
}
