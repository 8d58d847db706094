package lua_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// deltas are settings with which Lua accepts deltas and reports what workers serve.
var deltas = map[string]any{"backends_delta": true, "report_workers": true}

// delta is the body of a POST of changes only.
type delta struct {
	Changed []backend `json:"changed"`
	Removed []string  `json:"removed"`
}

// between returns the delta from one list of backends to another.
func between(old, new []backend) delta {
	d := delta{[]backend{}, []string{}}
	text := func(b backend) string { encoded, _ := json.Marshal(b); return string(encoded) }
	was := map[string]string{}
	for _, b := range old {
		was[b.Name] = text(b)
	}
	for _, b := range new {
		if was[b.Name] != text(b) {
			d.Changed = append(d.Changed, b)
		}
		delete(was, b.Name)
	}
	for name := range was {
		d.Removed = append(d.Removed, name)
	}
	return d
}

func (s *site) postDelta(base int, d delta) (status int, text string) {
	s.t.Helper()
	body, err := json.Marshal(d)
	if err != nil {
		s.t.Fatal(err)
	}
	return s.call(http.MethodPost, fmt.Sprint("/configuration/backends/delta?base=", base), string(body))
}

// mustPostDelta posts a delta, expects that it is accepted, and returns its version.
func (s *site) mustPostDelta(base int, d delta) int {
	s.t.Helper()
	status, text := s.postDelta(base, d)
	n, err := strconv.Atoi(text)
	if status != http.StatusCreated || err != nil {
		s.t.Fatalf("POST of a delta: %d %q", status, text)
	}
	return n
}

func encode(t *testing.T, backends []backend) string {
	t.Helper()
	if backends == nil {
		return "[]"
	}
	text, err := json.Marshal(backends)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A worker serves the same backends after deltas as after full lists, however often it polls. So
// does a worker that starts later.
func TestDeltasEqualFullLists(t *testing.T) {
	s := start(t, setup{Config: deltas, Server: peeking})
	s.expectLog("exited on signal 9")
	random := rand.New(rand.NewPCG(7, 5))
	workers, processes := s.workers("none"), s.accepting()
	c := cluster{}
	now := c.backends(random)
	sequence := s.sequence(encode(t, now))
	for i := range 400 {
		for range 1 + random.IntN(3) {
			c.change(random)
		}
		next := c.backends(random)
		if random.IntN(20) == 0 {
			sequence = s.sequence(encode(t, next))
		} else {
			sequence = s.mustPostDelta(sequence, between(now, next))
		}
		now = next
		if random.IntN(3) == 0 {
			w := workers[random.IntN(2)]
			if got, want := w.peek(), c.want(); !slices.Equal(got, want) {
				t.Fatalf("after change %d worker %d serves\n%+v\nwant\n%+v", i, w.pid, got, want)
			}
		}
		if i%100 != 99 {
			continue
		}
		if err := syscall.Kill(processes[0].PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		processes = s.accepting(processes[0])
		if i == 299 {
			s.nginx.Reload()
			processes = s.accepting()
		}
		workers = s.workers("none")
		for _, w := range workers {
			if got, want := w.peek(), c.want(); !slices.Equal(got, want) {
				t.Fatalf("after change %d a new worker serves\n%+v\nwant\n%+v", i, got, want)
			}
		}
	}
	s.awaitServing(processes, sequence)
}

func TestDeltaOfAnotherBaseIsRejected(t *testing.T) {
	s := start(t, setup{Config: deltas, Server: peeking})
	change := func(name string) delta {
		return delta{Changed: []backend{{Name: name, Endpoints: []endpoint{{"10.0.0.1", "80"}}}}, Removed: []string{}}
	}
	refuse := func(when string, base int) {
		t.Helper()
		if status, text := s.postDelta(base, change("refused")); status != http.StatusConflict {
			t.Errorf("%s: %d %q", when, status, text)
		}
	}
	refuse("before the first POST", 0)
	first := s.sequence("[]")
	second := s.mustPostDelta(first, change("a"))
	refuse("one whose answer got lost comes again", first)
	refuse("one comes before the one it builds on", second+1)
	third := s.mustPostDelta(second, change("b"))
	whole := s.sequence(`[{"name":"c"}]`)
	refuse("all backends came in between", third)
	last := s.mustPostDelta(whole, delta{Changed: change("d").Changed, Removed: []string{"c"}})
	refuse("the whole has changed since", whole)

	s.expectLog("dynamic-configuration: error updating configuration")
	for _, body := range []string{"", "{", "[]", `{"changed":[]}`, `"text"`, `{"changed":1,"removed":[]}`} {
		if status, _ := s.call(http.MethodPost, fmt.Sprint("/configuration/backends/delta?base=", last), body); status != http.StatusBadRequest {
			t.Errorf("%q: status %d", body, status)
		}
		s.expectLog("dynamic-configuration: unable to read valid request body")
	}
	s.wantCall("GET", "/configuration/backends/delta", "", http.StatusBadRequest, "Only POST requests are allowed!")
	for _, w := range s.workers("none") {
		if got := w.peek(); len(got) != 1 || got[0].Name != "d" {
			t.Errorf("a worker serves %+v, want only d", got)
		}
	}
	// A GET returns the backends with all deltas applied.
	var got []backend
	if _, text := s.call(http.MethodGet, "/configuration/backends", ""); json.Unmarshal([]byte(text), &got) != nil || len(got) != 1 || got[0].Name != "d" {
		t.Errorf("GET returns %s", text)
	}
}

// If there is no memory for another delta, the sender must send the full list, which frees memory.
func TestOversizedDeltaIsRejected(t *testing.T) {
	s := start(t, setup{Config: deltas, ConfigurationData: "128k", Server: peeking})
	s.expectLog("a client request body is buffered")
	sequence := s.sequence("[]")
	d := delta{Changed: []backend{{Name: "a", LoadBalance: strings.Repeat("x", 10000)}}, Removed: []string{}}
	status, text, taken := http.StatusCreated, "", 0
	for status == http.StatusCreated {
		if status, text = s.postDelta(sequence, d); status == http.StatusCreated {
			sequence, _ = strconv.Atoi(text)
			taken++
		}
	}
	if status != http.StatusConflict || text != "no memory" || taken == 0 {
		t.Fatalf("after %d deltas: %d %q", taken, status, text)
	}
	sequence = s.sequence(`[{"name":"b","endpoints":[{"address":"10.0.0.1","port":"80"}]}]`)
	sequence = s.mustPostDelta(sequence, d)
	for _, w := range s.workers("none") {
		if got := w.peek(); len(got) != 1 || got[0].Name != "b" {
			t.Errorf("a worker serves %+v", got)
		}
	}

	// If the full list does not fit either, the old backends stay, with the delta.
	c := delta{Changed: []backend{{Name: "c", Endpoints: []endpoint{{"10.0.0.2", "80"}}}}, Removed: []string{"b"}}
	s.mustPostDelta(sequence, c)
	s.expectLog("dynamic-configuration: error updating configuration: no memory")
	s.wantCall("POST", "/configuration/backends", strings.Repeat(" ", 200000)+"[]", http.StatusBadRequest, "error updating configuration: no memory")
	processes := s.accepting()
	s.expectLog("exited on signal 9")
	if err := syscall.Kill(processes[0].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.accepting(processes[0])
	for _, w := range s.workers("none") {
		if got := w.peek(); len(got) != 1 || got[0].Name != "c" {
			t.Errorf("after a POST that did not fit, a worker serves %+v", got)
		}
	}
}
