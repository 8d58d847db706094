package lua_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"windtunnel.dev/controller/nginx"
)

// serving is a worker's report of what it serves.
type serving struct{ PID, Generation, Workers, Backends, Certificates int }

func (s *site) serving() []serving {
	s.t.Helper()
	status, text := s.call(http.MethodGet, "/configuration/workers", "")
	if status != http.StatusOK {
		s.t.Fatalf("GET of the workers: %d %s", status, text)
	}
	var all []serving
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		s.t.Fatalf("%v: %s", err, text)
	}
	return all
}

// sequence posts backends and returns their version.
func (s *site) sequence(body string) int {
	s.t.Helper()
	status, text := s.call(http.MethodPost, "/configuration/backends", body)
	n, err := strconv.Atoi(text)
	if status != http.StatusCreated || err != nil {
		s.t.Fatalf("POST of backends: %d %q", status, text)
	}
	return n
}

// awaitServing waits until these workers, and no other workers of their generation, report that
// they serve the version.
func (s *site) awaitServing(workers []nginx.Worker, sequence int) (generation int) {
	s.t.Helper()
	s.nginx.Await("the report of all workers that they serve the version", func() bool {
		said := s.serving()
		for _, worker := range workers {
			i := slices.IndexFunc(said, func(one serving) bool { return one.PID == worker.PID })
			if i < 0 || said[i].Backends != sequence {
				return false
			}
			generation = said[i].Generation
			if said[i].Workers != len(workers) {
				s.t.Fatalf("got %+v of %d workers", said[i], len(workers))
			}
		}
		return true
	})
	return generation
}

// accepting returns the workers that accept connections, once their number is right and no old
// worker is among them.
func (s *site) accepting(old ...nginx.Worker) (fresh []nginx.Worker) {
	s.t.Helper()
	isOld := func(w nginx.Worker) bool {
		return slices.ContainsFunc(old, func(o nginx.Worker) bool { return o.PID == w.PID })
	}
	s.nginx.AwaitWorkers("as many as configured", func(all []nginx.Worker) bool {
		fresh = slices.DeleteFunc(all, func(w nginx.Worker) bool { return w.Draining })
		return len(fresh) == s.setup.Workers && !slices.ContainsFunc(fresh, isOld)
	})
	return fresh
}

func TestEachWorkerReportsWhatItServes(t *testing.T) {
	s := start(t, setup{Config: map[string]any{"report_workers": true}})
	workers := s.accepting()
	first := s.awaitServing(workers, 0)
	if first != 1 {
		t.Errorf("the first generation is %d", first)
	}
	one := s.sequence("[]")
	two := s.sequence("[]")
	if two <= one {
		t.Errorf("the versions of two POSTs are %d and %d", one, two)
	}
	if again := s.awaitServing(workers, two); again != first {
		t.Errorf("generation %d without a reload", again)
	}

	// A worker does not report a version that it could not parse.
	s.expectLog("could not parse backends data")
	s.sequence("[{")
	s.nginx.Await("an error from each worker", func() bool {
		return strings.Count(s.nginx.ErrorLog(), "could not parse backends data") >= len(workers)
	})
	s.awaitServing(workers, two)
	three := s.sequence("[]")
	s.awaitServing(workers, three)

	// A replacement of a dead worker serves the same version, and has the same generation.
	s.expectLog("exited on signal 9")
	if err := syscall.Kill(workers[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	workers = s.accepting(workers[0])
	if again := s.awaitServing(workers, three); again != first {
		t.Errorf("generation %d after a worker died", again)
	}

	s.nginx.Reload()
	workers = s.accepting()
	if next := s.awaitServing(workers, three); next != first+1 {
		t.Errorf("generation %d after a reload", next)
	}

	if status, text := s.call(http.MethodPost, "/configuration/servers", `{"servers":{},"certificates":{}}`); status != http.StatusCreated {
		t.Fatal(status, text)
	}
	for _, one := range s.serving() {
		if one.Certificates == 0 {
			t.Errorf("%+v does not report the certificates", one)
		}
	}
}

func TestWorkersReportNothingByDefault(t *testing.T) {
	s := start(t, setup{})
	if status, text := s.call(http.MethodGet, "/configuration/workers", ""); status != http.StatusNotFound || text != "Not found!" {
		t.Errorf("got %d %q", status, text)
	}
}
