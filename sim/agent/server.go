// Package agent runs parts of the harness in pods of a cluster: generators of traffic, and
// observers of a controller's processes. A Server runs in the pod, a Peer in the harness. Its one
// rule: the pod's own clock times the events of a pod; they enter the log of the run on the run's
// clock, or the log says that they are missing.
package agent

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/event"
)

// TokenHeader has the token of each request. It is not Authorization, because the API server removes
// that header when it proxies a request.
const TokenHeader = "X-Windtunnel-Token"

// TokenVariable is the environment variable that has the token, in an agent's process.
const TokenVariable = "WINDTUNNEL_AGENT_TOKEN"

// Port is the port of an agent.
const Port = 8078

// Lease is how long an agent runs without a request before it assumes that the harness has died.
const Lease = time.Minute

// Server is the agent's side: its HTTP API. It is safe for use by many goroutines.
type Server struct {
	token string
	log   *event.Log
	start time.Time // of its clock
	store *store

	traffic  generator
	observer observer

	mu    sync.Mutex
	asked time.Time // when the last request came
}

// Observed says which processes an agent observes.
type Observed struct {
	Processes  adapter.Processes
	Controller func() (int, error) // its PID, as the agent sees it
	// Entry returns the first process of the controller's container.
	Entry func() (Entry, error)
}

// NewServer returns an agent that requires a token with each request.
func NewServer(token string, o Observed) (*Server, error) {
	if token == "" {
		return nil, errors.New("an agent needs a token: otherwise anyone could make it send requests")
	}
	start := time.Now()
	s := &Server{token: token, start: start, asked: start, store: newStore()}
	s.log = event.NewLog(s.store, start)
	s.traffic.log, s.traffic.start = s.log, start
	s.observer.log, s.observer.observed = s.log, o
	return s, nil
}

// AwaitSilence returns nil when no request has arrived for the time of the lease, or the error of
// ctx.
func (s *Server) AwaitSilence(ctx context.Context, lease time.Duration) error {
	for {
		s.mu.Lock()
		left := lease - time.Since(s.asked)
		s.mu.Unlock()
		if left <= 0 {
			return nil
		}
		timer := time.NewTimer(left)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// End stops the traffic and the observation.
func (s *Server) End() {
	s.traffic.end()
	s.observer.end()
}

// now is an agent's clock: the time since it began, and the node's time of day.
type now struct {
	At   time.Duration `json:"at"`   // nanoseconds
	Wall time.Time     `json:"wall"` // for people, and for lines of logs
}

// Handler answers 200 with JSON to a request that it has carried out, 403 to one without the token,
// 400 to an invalid one, and 409 to one that conflicts with the state of the agent.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /clock", s.guard(func(w http.ResponseWriter, _ *http.Request) {
		wall := time.Now()
		answer(w, now{At: wall.Sub(s.start), Wall: wall}, nil)
	}))
	mux.HandleFunc("GET /events/{segment}", s.guard(s.serveEvents))
	s.traffic.handle(mux, s.guard)
	s.observer.handle(mux, s.guard)
	return mux
}

// guard refuses requests without the token, and notes the others.
func (s *Server) guard(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.Header.Get(TokenHeader)), []byte(s.token)) != 1 {
			http.Error(w, TokenHeader+" is not this process's token", http.StatusForbidden)
			return
		}
		s.mu.Lock()
		s.asked = time.Now()
		s.mu.Unlock()
		next(w, r)
	}
}

// maxOrder bounds the body of a request, in bytes: the targets of a large population.
const maxOrder = 64 << 20

// order decodes the body of a request, and answers with the result of do.
func order[In, Out any](do func(context.Context, In) (Out, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in In
		decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxOrder))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&in); err != nil {
			http.Error(w, "the order is not valid JSON: "+err.Error(), http.StatusBadRequest)
			return
		}
		out, err := do(r.Context(), in)
		answer(w, out, err)
	}
}

func answer(w http.ResponseWriter, out any, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out) // an error means that nobody reads it any more
}

// nothing is the empty body of orders and answers.
type nothing struct{}
