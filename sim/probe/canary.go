package probe

import (
	"cmp"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"windtunnel.dev/sim/event"
)

// CanaryOptions configure a Canary.
type CanaryOptions struct {
	// Address is where HTTP is served, and TLS where HTTPS is, as host:port. TLS is needed only for
	// changes of hosts that are asked over HTTPS.
	Address, TLS string
	// Gap is the time between two requests, to all open changes in turn. 0: 20 ms.
	Gap time.Duration
	// Timeout is how long one answer may take. 0: 5 s.
	Timeout time.Duration
	// Quiet is the time without an answer from the old state after which a change counts as served. 0: 2 s,
	// twice the time after which nginx's workers look for new endpoints.
	Quiet time.Duration
	// Patience is how long a change is asked about at most. 0: a minute.
	Patience time.Duration
	// Header names the response header with the pod that answered; a name without a namespace is one of
	// the namespace of the change's service. "": that of simulated pods.
	Header string
}

// canaryRequests limits the requests of a Canary that are in flight at once.
const canaryRequests = 16

// Canary asks about every change until answers show only the new state. Unlike a Convergence, it
// does not know which worker answers: each request uses its own connection, which may reach any
// worker of any controller. A worker that no request reaches may serve the old state for longer
// than the Canary sees.
type Canary struct {
	log     *event.Log
	subject string
	options CanaryOptions
	client  *http.Client
	done    chan struct{}

	mu   sync.Mutex
	open []*sighted
	next int
	wake chan struct{}
}

// sighted is an open change.
type sighted struct {
	*progress
	began, stale time.Time // when it was opened; when an answer last showed the old state
	fresh        bool      // answers show the new state
}

// StartCanary asks until ctx ends. Then Done is closed.
func StartCanary(ctx context.Context, log *event.Log, subject string, o CanaryOptions) *Canary {
	o.Gap, o.Timeout = cmp.Or(o.Gap, 20*time.Millisecond), cmp.Or(o.Timeout, 5*time.Second)
	o.Quiet, o.Patience = cmp.Or(o.Quiet, 2*time.Second), cmp.Or(o.Patience, time.Minute)
	o.Header = cmp.Or(o.Header, podHeader)
	c := &Canary{log: log, subject: subject, options: o, done: make(chan struct{}), wake: make(chan struct{}, 1)}
	c.client = &http.Client{
		Timeout: o.Timeout,
		Transport: &http.Transport{
			DisableKeepAlives: true, DisableCompression: true,
			TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // only the content counts
			DialContext:     c.dial,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	go c.run(ctx)
	return c
}

// dial connects to the address for the port of a URL, whose host is that of the change.
func (c *Canary) dial(ctx context.Context, network, address string) (net.Conn, error) {
	to := c.options.Address
	if strings.HasSuffix(address, ":443") {
		to = c.options.TLS
	}
	return new(net.Dialer).DialContext(ctx, network, to)
}

// Watch begins to ask about a change. It ignores a change without a host.
func (c *Canary) Watch(change event.Change) {
	if change.Host == "" {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, earlier := range c.open {
		earlier.supersede(change)
	}
	now := time.Now()
	c.open = append(c.open, &sighted{progress: newProgress(change), began: now, stale: now})
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

// Pending returns the number of changes that are still asked about.
func (c *Canary) Pending() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}

// Done returns a channel that is closed when the Canary has sent its last request.
func (c *Canary) Done() <-chan struct{} { return c.done }

// Identifies asks a host once, and returns the name of the pod that answered, "" if the answer has none.
func (c *Canary) Identifies(ctx context.Context, change event.Change) (string, error) {
	a, err := c.ask(ctx, change)
	return a.pod, err
}

func (c *Canary) run(ctx context.Context) {
	defer close(c.done)
	var underWay errgroup.Group
	underWay.SetLimit(canaryRequests)
	defer underWay.Wait() //nolint:errcheck // no error
	ticker := time.NewTicker(c.options.Gap)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		about := c.due()
		if len(about) == 0 {
			select {
			case <-c.wake:
			case <-ctx.Done():
				return
			}
			continue
		}
		underWay.Go(func() error { c.poll(ctx, about); return nil })
	}
}

// due returns the open changes of the next turn, which share a route.
func (c *Canary) due() (about []*sighted) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	c.open = slices.DeleteFunc(c.open, func(s *sighted) bool { return s.settled(now, c.options) })
	if len(c.open) == 0 {
		return nil
	}
	c.next = (c.next + 1) % len(c.open)
	due := c.open[c.next].change
	for _, s := range c.open {
		if sameRoute(s.change, due) {
			about = append(about, s)
		}
	}
	return about
}

// settled reports whether a change need not be asked about any more.
func (s *sighted) settled(now time.Time, o CanaryOptions) bool {
	return s.fresh && now.Sub(s.stale) >= o.Quiet || now.Sub(s.began) >= o.Patience
}

// poll asks once, and logs the answer for each change that it is about.
func (c *Canary) poll(ctx context.Context, about []*sighted) {
	sent := time.Now()
	a, err := c.ask(ctx, about[0].change)
	took := time.Since(sent)
	if ctx.Err() != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range about {
		c.log.Write(event.Event{At: c.log.At(sent.Add(took)), Subject: c.subject, Answer: a.event(event.SomeWorker, s.change, took, err)})
		s.record(a, err)
	}
}

// record records an answer. An answer that does not show the new state may show the old one.
func (s *sighted) record(a answer, err error) {
	if err != nil {
		return
	}
	s.progress.record(a)
	if s.clean == 0 {
		s.stale = time.Now()
		return
	}
	s.fresh = true
}

func (c *Canary) ask(ctx context.Context, about event.Change) (answer, error) {
	scheme := "http"
	if about.TLS {
		scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+about.Host+cmp.Or(about.Path, "/"), nil)
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("User-Agent", "windtunnel-canary")
	response, err := c.client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return answer{pod: c.podOf(response, about), service: response.Header.Get(serviceHeader), status: response.StatusCode}, err
}

// podOf returns namespace/name of the pod that an answer names.
func (c *Canary) podOf(response *http.Response, about event.Change) string {
	pod := response.Header.Get(c.options.Header)
	if namespace, _, ok := strings.Cut(about.Service, "/"); ok && pod != "" && !strings.Contains(pod, "/") {
		return namespace + "/" + pod
	}
	return pod
}
