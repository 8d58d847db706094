package kubeapi

import (
	"sync"

	"windtunnel.dev/sim/kubeapi/fault"
)

// streams holds the open watches.
type streams struct {
	mu   sync.Mutex
	open map[*stream]bool
}

func (s *streams) add(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open == nil {
		s.open = map[*stream]bool{}
	}
	s.open[st] = true
}

func (s *streams) remove(st *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, st)
}

// covered returns the open watches in a scope.
func (s *streams) covered(scope fault.Scope) (covered []*stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for st := range s.open {
		if c := st.server.callOf(st.r.Request); scope.Covers(&c.Request) {
			covered = append(covered, st)
		}
	}
	return covered
}
