package agent

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"syscall"

	"windtunnel.dev/internal/signal"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/probe"
)

// observer runs the probes of one subject, whose processes it shares a pod with.
type observer struct {
	log      *event.Log
	observed Observed
	finder   probe.Finder

	mu      sync.Mutex
	stop    context.CancelFunc // nil: it observes nothing
	workers *probe.Workers
	usage   *probe.Usage
	memory  <-chan struct{} // closed when it is no longer watched; nil: it is not watched
	stopped map[int]bool    // processes that a signal has stopped

	endRound context.CancelFunc // nil: there is no round
	converge *probe.Convergence
}

// observeOrder is the body of POST /observe/begin.
type observeOrder struct {
	Subject string `json:"subject"`           // of the events
	Metrics string `json:"metrics,omitempty"` // URL of the controller's; empty: they are not read
}

// roundOrder is the body of POST /observe/round: where nginx answers, as host:port.
type roundOrder struct {
	HTTP string `json:"http"`
	TLS  string `json:"tls"`
}

// processState is the response of GET /observe/state: PIDs in the pod, 0 for a process that does not run.
type processState struct {
	Controller int   `json:"controller"`
	Master     int   `json:"master"`
	Workers    []int `json:"workers"` // those that serve
}

// pendingState is the response of GET /observe/pending.
type pendingState struct {
	Open int    `json:"open"` // changes that some worker does not serve yet
	Off  string `json:"off"`  // why no worker is asked any more
}

func (o *observer) handle(mux *http.ServeMux, guard func(http.HandlerFunc) http.HandlerFunc) {
	mux.HandleFunc("GET /observe/entry", guard(func(w http.ResponseWriter, _ *http.Request) {
		entry, err := o.observed.Entry()
		answer(w, entry, err)
	}))
	mux.HandleFunc("POST /observe/begin", guard(order(o.begin)))
	mux.HandleFunc("GET /observe/state", guard(func(w http.ResponseWriter, _ *http.Request) { answer(w, o.state(), nil) }))
	mux.HandleFunc("POST /observe/signal", guard(order(o.signal)))
	mux.HandleFunc("POST /observe/sample", guard(order(o.sample)))
	mux.HandleFunc("POST /observe/round", guard(order(o.beginRound)))
	mux.HandleFunc("POST /observe/watch", guard(order(o.watch)))
	mux.HandleFunc("GET /observe/pending", guard(func(w http.ResponseWriter, _ *http.Request) {
		state, err := o.pending()
		answer(w, state, err)
	}))
	mux.HandleFunc("POST /observe/round-end", guard(order(o.finishRound)))
}

// begin begins to observe the processes.
func (o *observer) begin(_ context.Context, order observeOrder) (nothing, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stop != nil {
		return nothing{}, errors.New("it observes already")
	}
	ctx, stop := context.WithCancel(context.Background())
	o.stop = stop
	o.workers = probe.WatchWorkers(ctx, o.log, order.Subject, o.observed.Processes, o.master)
	o.usage = probe.WatchUsage(ctx, o.log, o.workers, o.observed.Controller)
	if order.Metrics != "" {
		o.memory = probe.WatchMemory(ctx, o.log, order.Subject, order.Metrics)
	}
	return nothing{}, nil
}

func (o *observer) master() (int, error) {
	return o.finder.Master(o.observed.Controller, o.observed.Processes)
}

func (o *observer) state() processState {
	var s processState
	s.Controller, _ = o.observed.Controller() // 0 with an error
	s.Master, _ = o.master()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.workers != nil {
		for _, w := range o.workers.Alive() {
			if w.State == event.Active {
				s.Workers = append(s.Workers, w.PID)
			}
		}
	}
	return s
}

var errNotBegun = errors.New("it observes nothing yet")

func (o *observer) sample(context.Context, nothing) (nothing, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.usage == nil {
		return nothing{}, errNotBegun
	}
	o.usage.Sample()
	return nothing{}, nil
}

// beginRound begins to ask every worker about changes.
func (o *observer) beginRound(_ context.Context, order roundOrder) (nothing, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.workers == nil:
		return nothing{}, errNotBegun
	case o.converge != nil:
		return nothing{}, errors.New("another round is being observed")
	}
	ctx, end := context.WithCancel(context.Background())
	o.endRound = end
	o.converge = probe.StartConvergence(ctx, o.log, o.workers, probe.ConvergenceOptions{Address: order.HTTP, TLS: order.TLS})
	return nothing{}, nil
}

var errNoRound = errors.New("no round is being observed")

// watch begins to ask about changes.
func (o *observer) watch(_ context.Context, changes []event.Change) (nothing, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.converge == nil {
		return nothing{}, errNoRound
	}
	for _, change := range changes {
		o.converge.Watch(change)
	}
	return nothing{}, nil
}

func (o *observer) pending() (pendingState, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.converge == nil {
		return pendingState{}, errNoRound
	}
	return pendingState{Open: o.converge.Pending(), Off: o.converge.Effort().Off}, nil
}

// finishRound ends the round and returns its effort.
func (o *observer) finishRound(context.Context, nothing) (event.Probe, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.converge == nil {
		return event.Probe{}, errNoRound
	}
	effort := o.converge.Effort()
	o.endRound()
	<-o.converge.Done()
	o.converge = nil
	return effort, nil
}

// end ends all probes.
func (o *observer) end() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.converge != nil {
		o.endRound()
		<-o.converge.Done()
		o.converge = nil
	}
	if o.stop != nil {
		o.stop()
		<-o.workers.Done()
		<-o.usage.Done()
		if o.memory != nil {
			<-o.memory
		}
	}
	for pid := range o.stopped {
		_ = signal.Send(pid, syscall.SIGCONT) // it may have ended
	}
}
