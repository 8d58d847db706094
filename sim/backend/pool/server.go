// Package pool is simulated pods in real ones. It stands between the steps of a
// scenario and a Deployment of `windtunnel backend`, each of whose pods can be
// any simulated pod for a while, at its own address. Its one rule: no address
// goes from one simulated pod to the next before it has rested.
package pool

import (
	"cmp"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/event"
)

// TokenHeader has the token of each order. It is not Authorization, which the
// API server takes out of what it passes on.
const TokenHeader = "X-Windtunnel-Token"

// order is the body of a request of the control API, POST /pod/VERB.
type order struct {
	Owner   string        `json:"owner"` // whose the process is until the pod is gone
	Name    string        `json:"name"`  // namespace/name
	Service string        `json:"service,omitempty"`
	Drain   time.Duration `json:"drain,omitempty"` // nanoseconds
	// Rest, of claim, is how long the process must have been none, in nanoseconds.
	Rest time.Duration `json:"rest,omitempty"`
	// Lease, of claim and keep, is how long the pod lives on if nothing more is
	// heard of it, in nanoseconds: its owner may have died.
	Lease time.Duration `json:"lease,omitempty"`
}

// Server is the control API of a process that is one simulated pod after
// another. It is safe for use by many goroutines.
type Server struct {
	// Address is where the pods listen: 0.0.0.0 is for all of the real pod's.
	Address netip.AddrPort
	// StreamPort is where they answer over TCP and UDP themselves; 0: nowhere.
	StreamPort int
	// Token is asked for with each order; empty: none is.
	Token string
	// Tell is called with each state of each pod, and with what goes wrong.
	Tell func(event.Event)

	mu     sync.Mutex
	of     order       // that made the pod
	pod    backend.Pod // nil before the first
	expiry *time.Timer // of its lease
	left   time.Time   // when the process was last a pod
}

// verbs are the orders that there are: each begins with the lock held, and
// may return what is to be waited for without it.
var verbs = map[string]func(*Server, order) (func(), error){
	"claim":     (*Server).claim,
	"keep":      (*Server).keep,
	"ready":     (*Server).ready,
	"terminate": (*Server).terminate,
	"gone":      (*Server).gone,
}

// Handler answers 204 to an order that was carried out, 409 to one that does
// not go with what the process is now, and 200 to GET /healthz.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("POST /pod/{verb}", s.take)
	return mux
}

func (s *Server) take(w http.ResponseWriter, r *http.Request) {
	if subtle.ConstantTimeCompare([]byte(r.Header.Get(TokenHeader)), []byte(s.Token)) != 1 {
		http.Error(w, TokenHeader+" is not this process's token", http.StatusForbidden)
		return
	}
	verb, ok := verbs[r.PathValue("verb")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	var o order
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<16)).Decode(&o); err != nil {
		http.Error(w, "the order is no JSON of ours: "+err.Error(), http.StatusBadRequest)
		return
	}
	if o.Name == "" || o.Owner == "" || o.Drain < 0 {
		http.Error(w, "an order has an owner, a name and a drain not below zero", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	wait, err := verb(s, o)
	s.mu.Unlock()
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	wait()
	w.WriteHeader(http.StatusNoContent)
}

func atOnce() {}

// claim makes the process another pod, when it is none.
func (s *Server) claim(o order) (func(), error) {
	if s.lives() {
		return nil, fmt.Errorf("cannot be %s: is pod %s of %s", o.Name, s.of.Name, s.of.Owner)
	}
	if o.Lease <= 0 {
		return nil, fmt.Errorf("cannot be %s: the order has no lease", o.Name)
	}
	if rested := time.Since(s.left); rested < o.Rest {
		return nil, fmt.Errorf("cannot be %s: was pod %s of %s %v ago, and rests for %v", o.Name, s.of.Name, s.of.Owner, rested.Round(time.Millisecond), o.Rest)
	}
	p := backend.Single(o.Name, o.Service, s.Address, s.StreamPort, s.Tell)
	s.of, s.pod, s.expiry = o, p, time.AfterFunc(o.Lease, p.Gone)
	go func() {
		<-p.Done()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.left = time.Now()
	}()
	return atOnce, nil
}

// keep makes the lease of a pod a new one.
func (s *Server) keep(o order) (func(), error) {
	if err := s.is(o); err != nil {
		return nil, err
	}
	if o.Lease <= 0 {
		return nil, fmt.Errorf("cannot keep %s: the order has no lease", o.Name)
	}
	if !s.expiry.Stop() {
		return nil, fmt.Errorf("is pod %s no longer: nothing was heard of it for %v", o.Name, s.of.Lease)
	}
	s.expiry.Reset(o.Lease)
	return atOnce, nil
}

func (s *Server) ready(o order) (func(), error) {
	if err := s.is(o); err != nil {
		return nil, err
	}
	return atOnce, s.pod.Ready()
}

func (s *Server) terminate(o order) (func(), error) {
	if err := s.is(o); err != nil {
		return nil, err
	}
	s.pod.Terminate(o.Drain)
	return atOnce, nil
}

// gone waits for the last answers, so that the next pod has none of this one's.
func (s *Server) gone(o order) (func(), error) {
	if err := s.is(o); err != nil {
		return nil, err
	}
	p := s.pod
	s.expiry.Stop()
	return func() { p.Gone(); <-p.Done() }, nil
}

// is says why an order is for another pod.
func (s *Server) is(o order) error {
	if s.pod == nil || s.of.Name != o.Name || s.of.Owner != o.Owner {
		return fmt.Errorf("is not pod %s of %s, but %s", o.Name, o.Owner, cmp.Or(s.of.Name, "none"))
	}
	return nil
}

func (s *Server) lives() bool {
	if s.pod == nil {
		return false
	}
	select {
	case <-s.pod.Done():
		return false
	default:
		return true
	}
}

// End terminates the pod that the process is, if any, and returns when it is gone.
func (s *Server) End(drain time.Duration) {
	s.mu.Lock()
	p, lives := s.pod, s.lives()
	s.mu.Unlock()
	if lives {
		p.Terminate(drain)
		<-p.Done()
	}
}
