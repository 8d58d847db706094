// Package pool runs simulated pods inside real pods. It stands between the steps of a scenario and
// a Deployment of `windtunnel backend`. Each pod of the Deployment can act as any simulated pod for
// a while, at its own address. Its one rule: an address stays unused for a while before another
// simulated pod gets it.
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

// TokenHeader has the token of each order. It is not Authorization, because the API server removes
// that header when it proxies a request.
const TokenHeader = "X-Windtunnel-Token"

// order is the body of a request of the control API, POST /pod/VERB.
type order struct {
	Owner   string        `json:"owner"` // the fleet that has the process until the pod is gone
	Name    string        `json:"name"`  // namespace/name
	Service string        `json:"service,omitempty"`
	Drain   time.Duration `json:"drain,omitempty"` // nanoseconds
	// Rest, for claim, is how long the process must have run no pod, in nanoseconds.
	Rest time.Duration `json:"rest,omitempty"`
	// Lease, for claim and keep, is how long the pod lives without a further order, in
	// nanoseconds: its owner may have died.
	Lease time.Duration `json:"lease,omitempty"`
	scripted
}

// Server is the control API of a process that runs one simulated pod after another. It is safe for
// use by many goroutines.
type Server struct {
	// Address is where the pods listen: 0.0.0.0 for all addresses of the real pod.
	Address netip.AddrPort
	// StreamPort is the port on which they answer over bare TCP and UDP; 0: none.
	StreamPort int
	// Token is required with each order; empty: no token is.
	Token string
	// Tell is called with each state of each pod, and with what goes wrong.
	Tell func(event.Event)

	mu     sync.Mutex
	of     order       // the order that made the pod
	pod    backend.Pod // nil before the first
	expiry *time.Timer // of its lease
	left   time.Time   // when the process last ran a pod

	recording *backend.Recording // of the pod; nil: it does not record
}

// verbs are the orders. Each runs with the lock held, and returns a function that waits for the end
// of the order without the lock.
var verbs = map[string]func(*Server, order) (func(), error){
	"claim":     (*Server).claim,
	"keep":      (*Server).keep,
	"ready":     (*Server).ready,
	"terminate": (*Server).terminate,
	"gone":      (*Server).gone,
}

// Handler answers 204 to an order that was carried out, 409 to one that conflicts with the state of
// the process, 200 with records to POST /pod/received, and 200 to GET /healthz.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("POST /pod/{verb}", s.serveOrder)
	mux.HandleFunc("POST /pod/received", s.received)
	return mux
}

func (s *Server) serveOrder(w http.ResponseWriter, r *http.Request) {
	o, ok := s.read(w, r)
	if !ok {
		return
	}
	verb, ok := verbs[r.PathValue("verb")]
	if !ok {
		http.NotFound(w, r)
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

// maxOrder bounds an order, in bytes: a script has certificates and bodies.
const maxOrder = 8 << 20

// read reads an order. If it is not valid, read answers the request and returns false.
func (s *Server) read(w http.ResponseWriter, r *http.Request) (o order, ok bool) {
	if subtle.ConstantTimeCompare([]byte(r.Header.Get(TokenHeader)), []byte(s.Token)) != 1 {
		http.Error(w, TokenHeader+" is not this process's token", http.StatusForbidden)
		return order{}, false
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxOrder)).Decode(&o); err != nil {
		http.Error(w, "the order is not valid JSON: "+err.Error(), http.StatusBadRequest)
		return order{}, false
	}
	if o.Name == "" || o.Owner == "" || o.Drain < 0 {
		http.Error(w, "an order needs an owner, a name, and a drain that is not negative", http.StatusBadRequest)
		return order{}, false
	}
	return o, true
}

func noWait() {}

// claim makes the process run a pod, if it runs none.
func (s *Server) claim(o order) (func(), error) {
	if s.isRunning() {
		return nil, fmt.Errorf("cannot run %s: runs pod %s of %s", o.Name, s.of.Name, s.of.Owner)
	}
	if o.Lease <= 0 {
		return nil, fmt.Errorf("cannot run %s: no lease was given", o.Name)
	}
	if rested := time.Since(s.left); rested < o.Rest {
		return nil, fmt.Errorf("cannot run %s: ran pod %s of %s until %v ago, and must be unused for %v", o.Name, s.of.Name, s.of.Owner, rested.Round(time.Millisecond), o.Rest)
	}
	recording := o.recording()
	p, err := backend.ScriptedSingle(o.Name, o.Service, s.Address, s.StreamPort, o.Script, recording, s.Tell)
	if err != nil {
		return nil, fmt.Errorf("cannot run %s: %w", o.Name, err)
	}
	o.scripted = scripted{} // no longer needed, and may be large
	s.recording = recording
	s.of, s.pod, s.expiry = o, p, time.AfterFunc(o.Lease, p.Gone)
	go func() {
		<-p.Done()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.left = time.Now()
	}()
	return noWait, nil
}

// keep renews the lease of a pod.
func (s *Server) keep(o order) (func(), error) {
	if err := s.checkPod(o); err != nil {
		return nil, err
	}
	if o.Lease <= 0 {
		return nil, fmt.Errorf("cannot keep %s: no lease was given", o.Name)
	}
	if !s.expiry.Stop() {
		return nil, fmt.Errorf("no longer runs pod %s: no order came for it in %v", o.Name, s.of.Lease)
	}
	s.expiry.Reset(o.Lease)
	return noWait, nil
}

func (s *Server) ready(o order) (func(), error) {
	if err := s.checkPod(o); err != nil {
		return nil, err
	}
	return noWait, s.pod.Ready()
}

func (s *Server) terminate(o order) (func(), error) {
	if err := s.checkPod(o); err != nil {
		return nil, err
	}
	s.pod.Terminate(o.Drain)
	return noWait, nil
}

// gone waits for the last answers, so that the next pod does not give any of this one's.
func (s *Server) gone(o order) (func(), error) {
	if err := s.checkPod(o); err != nil {
		return nil, err
	}
	p := s.pod
	s.expiry.Stop()
	return func() { p.Gone(); <-p.Done() }, nil
}

// checkPod returns an error if an order is for another pod.
func (s *Server) checkPod(o order) error {
	if s.pod == nil || s.of.Name != o.Name || s.of.Owner != o.Owner {
		return fmt.Errorf("does not run pod %s of %s, but %s", o.Name, o.Owner, cmp.Or(s.of.Name, "none"))
	}
	return nil
}

func (s *Server) isRunning() bool {
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

// End terminates the pod that the process runs, if any, and returns when it is gone.
func (s *Server) End(drain time.Duration) {
	s.mu.Lock()
	p, lives := s.pod, s.isRunning()
	s.mu.Unlock()
	if lives {
		p.Terminate(drain)
		<-p.Done()
	}
}
