package kubeapi

import (
	"context"
	"errors"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/sim/kubeapi/fault"
)

// target implements fault.Target: the actions of faults on the server as a whole.
type target struct {
	s       *Server
	scope   fault.Scope
	watches int // number of watches in scope that it has ended
}

// Stop stops the server. The sockets close before the watches end, so that a client that
// comes back at once is refused.
func (t *target) Stop(reset bool) {
	s := t.s
	s.outages.Lock()
	defer s.outages.Unlock()
	if s.closed || closed(s.ending()) {
		return
	}
	for _, e := range s.endpoints() {
		e.listener.Close()
		release, err := keepPort(e.address)
		if err != nil {
			release = func() {} // the port may still be free at the next start
		}
		e.release = release
	}
	t.watches += len(s.streams.covered(t.scope))
	if reset {
		s.connections.reset()
	}
	close(s.ending())
	s.connections.end()
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	for _, e := range s.endpoints() {
		if reset {
			e.server.Close()
		}
		e.shutdown(ctx)
	}
}

// withRefusalWhileStopping refuses requests that arrive over open connections while the server
// stops. A watch must not begin and end at once then, because its client would treat that as an
// error of its own.
func (s *Server) withRefusalWhileStopping(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !closed(s.ending()) {
			next.ServeHTTP(w, req)
			return
		}
		w.Header().Set("Connection", "close")
		err := apierrors.NewServiceUnavailable("apiserver is shutting down")
		err.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: 1}
		refuse(w, req, err)
	})
}

// Start starts the server again, unless it was closed for good. It logs a failure.
func (t *target) Start() error {
	s := t.s
	s.outages.Lock()
	defer s.outages.Unlock()
	if s.closed || !closed(s.ending()) {
		return nil
	}
	s.stopping.Store(make(chan struct{}))
	s.connections.begin()
	var errs []error
	for _, e := range s.endpoints() {
		if err := e.reopen(); err != nil {
			errs = append(errs, err)
			continue
		}
		e.serve(s.newHTTPServer())
	}
	err := errors.Join(errs...)
	if err != nil {
		s.faults.log(&injection{Fault: fault.Fault{Name: "start"}}, fault.Request{}, s.state.Version(), err)
	}
	return err
}

// EndWatches ends the open watches in scope.
func (t *target) EndWatches(scope fault.Scope) {
	for _, st := range t.s.streams.covered(scope) {
		st.end()
		t.watches++
	}
}

// Forget drops the history of the scope's resources.
func (t *target) Forget(scope fault.Scope) {
	for c := range t.s.state.EveryCollection() {
		if scope.CoversResource(c.Resource.GroupResource().String()) {
			c.DropHistory()
		}
	}
}

// RotateCertificate replaces the serving certificate; restore brings the old one back.
func (t *target) RotateCertificate(newCA bool) (restore func(), err error) {
	return t.s.identity.Rotate(newCA)
}

// ending returns a channel that is closed when the server stops; after a restart there is another
// channel.
func (s *Server) ending() chan struct{} { return s.stopping.Load().(chan struct{}) }
