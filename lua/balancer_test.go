package lua_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/internal/nginxtest"
)

// tally sends n requests for the upstream "shop" and counts the responses of each pod.
func tally(t *testing.T, w *worker, n int) map[string]int {
	t.Helper()
	answers := map[string]int{}
	for range n {
		a := w.get("X-Upstream", "shop")
		if a.status != http.StatusOK {
			t.Fatalf("status %d from worker %d", a.status, w.pid)
		}
		answers[a.pod]++
	}
	return answers
}

func (e endpoint) String() string { return net.JoinHostPort(e.Address, e.Port) }

func wantEven(t *testing.T, answers map[string]int, endpoints []endpoint, each int) {
	t.Helper()
	if len(answers) != len(endpoints) {
		t.Errorf("pods %v responded, want %v", answers, endpoints)
	}
	for _, e := range endpoints {
		if answers[e.String()] != each {
			t.Errorf("pod %v responded %d times, want %d", e, answers[e.String()], each)
		}
	}
}

func TestEveryWorkerUsesAllEndpointsInTurn(t *testing.T) {
	s := start(t, setup{})
	endpoints := pods(t, 5)
	for _, w := range s.serve(backend{Name: "shop", Endpoints: endpoints}) {
		wantEven(t, tally(t, w, 50), endpoints, 10)
	}
}

func TestRemovedEndpointGetsNoRequests(t *testing.T) {
	s := start(t, setup{})
	endpoints := pods(t, 3)
	workers := s.serve(backend{Name: "shop", Endpoints: endpoints})
	s.awaitMark(workers, s.post(backend{Name: "shop", Endpoints: endpoints[:2]}))
	for _, w := range workers {
		wantEven(t, tally(t, w, 20), endpoints[:2], 10)
	}
}

func TestUnchangedEndpointsKeepTheirTurn(t *testing.T) {
	s := start(t, setup{Workers: 1})
	endpoints := pods(t, 7)
	shop := backend{Name: "shop", Endpoints: endpoints}
	w := s.serve(shop)[0]
	before := tally(t, w, 3)
	slices.Reverse(endpoints)
	s.awaitMark([]*worker{w}, s.post(shop))
	for pod, n := range tally(t, w, 4) {
		before[pod] += n
	}
	wantEven(t, before, endpoints, 1)
}

func TestNoEndpointsIs503(t *testing.T) {
	s := start(t, setup{})
	shop := backend{Name: "shop", Endpoints: pods(t, 1)}
	workers := s.serve(shop)
	gone := func(why string) {
		t.Helper()
		for _, w := range workers {
			if got := w.get("X-Upstream", "shop").status; got != http.StatusServiceUnavailable {
				t.Errorf("%s: status %d, want 503", why, got)
			}
		}
	}
	s.awaitMark(workers, s.post(backend{Name: "shop"}))
	gone("no endpoints")
	s.awaitMark(workers, s.post(shop))
	tally(t, workers[0], 1)
	s.awaitMark(workers, s.post())
	gone("no such backend")
}

func TestBeforeTheFirstPostIs503(t *testing.T) {
	s := start(t, setup{})
	for _, w := range s.workers("shop") {
		if w.first.status != http.StatusServiceUnavailable {
			t.Errorf("status %d, want 503", w.first.status)
		}
	}
}

func TestInvalidDataKeepsTheBackends(t *testing.T) {
	s := start(t, setup{})
	endpoints := pods(t, 2)
	workers := s.serve(backend{Name: "shop", Endpoints: endpoints})
	const complaint = "could not parse backends data"
	s.expectLog(complaint)
	for _, bad := range []string{`[{"name":`, `7`, `null`} {
		seen := len(s.nginx.ErrorLog())
		if status, _ := s.call(http.MethodPost, "/configuration/backends", bad); status != http.StatusCreated {
			t.Errorf("POST: %d, want 201: a POST does not parse the data", status)
		}
		for _, w := range workers {
			line := fmt.Sprintf(" [error] %d#", w.pid)
			s.nginx.Await("the error of each worker about "+bad, func() bool {
				log := s.nginx.ErrorLog()[seen:]
				return strings.Contains(log, line) && strings.Contains(log, complaint)
			})
			wantEven(t, tally(t, w, 10), endpoints, 5)
		}
	}
	s.awaitMark(workers, s.post(backend{Name: "shop", Endpoints: endpoints[:1]}))
}

func TestInvalidBackendDoesNotBlockOthers(t *testing.T) {
	s := start(t, setup{})
	s.expectLog("backend odd could not be synced")
	workers := s.serve(backend{Name: "odd", Endpoints: []endpoint{{}}, Service: 1}, backend{Name: "shop", Endpoints: pods(t, 1)})
	tally(t, workers[0], 1)
}

// With timestamps in whole seconds, a worker that polls between two POSTs within one second would
// miss the second POST. In this test the clock for the timestamps stands still.
func TestTwoPostsInOneSecondAreBothApplied(t *testing.T) {
	s := start(t, setup{Configuration: `rewrite_by_lua_block { ngx.time = function() return 1700000000 end }`})
	endpoints := pods(t, 2)
	workers := s.serve(backend{Name: "shop", Endpoints: endpoints[:1]})
	s.awaitMark(workers, s.post(backend{Name: "shop", Endpoints: endpoints[1:]}))
	for _, w := range workers {
		wantEven(t, tally(t, w, 3), endpoints[1:], 3)
	}
}

func TestNewWorkersServeTheirFirstRequest(t *testing.T) {
	s := start(t, setup{})
	old := map[int]bool{}
	for _, w := range s.serve(backend{Name: "shop", Endpoints: pods(t, 2)}) {
		old[w.pid] = true
		w.client.CloseIdleConnections()
	}
	s.nginx.Reload()
	s.nginx.AwaitWorkers("new workers only", func(now []nginx.Worker) bool {
		return len(now) == s.Workers && !slices.ContainsFunc(now, func(w nginx.Worker) bool { return old[w.PID] })
	})
	for _, w := range s.workers("shop") {
		if w.first.status != http.StatusOK {
			t.Errorf("the first response of worker %d has status %d", w.pid, w.first.status)
		}
	}
}

func TestRefusedConnectionIsRetriedAtTheNextEndpoint(t *testing.T) {
	s := start(t, setup{Workers: 1})
	s.expectLog("Connection refused")
	alive := pods(t, 1)
	host, port, _ := net.SplitHostPort(nginxtest.FreeAddress(t))
	w := s.serve(backend{Name: "shop", Endpoints: append([]endpoint{{host, port}}, alive...)})[0]
	wantEven(t, tally(t, w, 10), alive, 10)
	if !strings.Contains(s.nginx.ErrorLog(), "Connection refused") {
		t.Error("the endpoint that refuses was never tried")
	}
}

func TestTheStatusPortIsNotAnEndpoint(t *testing.T) {
	s := start(t, setup{})
	s.expectLog("attempted to proxy to self")
	_, port, _ := net.SplitHostPort(s.Status)
	protected := []endpoint{{"127.0.0.1", port}, {"0.0.0.0", port}, {"::ffff:127.0.0.1", port}, {"::ffff:7f00:1", port}}
	alive := pods(t, 1)
	workers := s.serve(backend{Name: "shop", Endpoints: protected}, backend{Name: "mixed", Endpoints: append(protected, alive...)})
	for _, w := range workers {
		if got := w.getPath("/configuration/backends", "X-Upstream", "shop"); got.status != http.StatusServiceUnavailable {
			t.Errorf("status %d, want 503; the response: %s", got.status, got.body)
		}
		for range 2 * len(protected) {
			if got := w.get("X-Upstream", "mixed"); got.pod != alive[0].String() {
				t.Errorf("%s responded, want %s", got.pod, alive[0])
			}
		}
	}
}

// load-balance may name algorithms that need more parameters. In an earlier version, a cookie
// without a name put a worker into an endless loop.
func TestAlgorithmsWithoutTheirParametersAreRoundRobin(t *testing.T) {
	s := start(t, setup{Workers: 1})
	s.expectLog("load balancing algorithm")
	endpoints := pods(t, 3)
	for _, name := range []string{"sticky_balanced", "sticky_persistent", "chash", "chashsubset"} {
		none := map[string]any{"name": "", "mode": "", "cookieSessionAffinity": map[string]any{"name": ""}}
		w := s.serve(backend{Name: "shop", LoadBalance: name, Affinity: none, HashBy: map[string]any{"upstream-hash-by-subset-size": 3}, Endpoints: endpoints})[0]
		for range 2 {
			if got := w.get("X-Upstream", "shop", "Cookie", "a=b; c"); got.status != http.StatusOK || got.header.Get("Set-Cookie") != "" {
				t.Errorf("%s: status %d, cookie %q", name, got.status, got.header.Get("Set-Cookie"))
			}
		}
		if n := strings.Count(s.nginx.ErrorLog(), "load balancing algorithm "+name+" needs"); n != 1 {
			t.Errorf("%s: %d warnings, want one", name, n)
		}
	}
}

func TestSubsetIsNotLargerThanTheEndpoints(t *testing.T) {
	s := start(t, setup{Workers: 1})
	endpoints := pods(t, 4)
	hash := map[string]any{"upstream-hash-by": "$request_uri", "upstream-hash-by-subset": true, "upstream-hash-by-subset-size": 9999999999}
	w := s.serve(backend{Name: "shop", HashBy: hash, Endpoints: endpoints})[0]
	seen := map[string]bool{}
	for range 100 {
		seen[w.get("X-Upstream", "shop").pod] = true
	}
	if len(seen) != len(endpoints) {
		t.Errorf("%d of %d endpoints responded", len(seen), len(endpoints))
	}
}

// A cookie of 8 KiB, the longest header line that nginx accepts, costs little CPU time.
func TestHostileCookies(t *testing.T) {
	s := start(t, setup{Workers: 1})
	w := s.serve(backend{Name: "shop", Affinity: affinity("balanced", nil), Endpoints: pods(t, 2)})[0]
	const longest = 8000
	for _, cookie := range []string{
		"route=" + strings.Repeat(" ", longest) + "x", "route=" + strings.Repeat(" ;", longest/2), strings.Repeat("route", longest/5),
		strings.Repeat("route ", longest/6), strings.Repeat("route =", longest/7), strings.Repeat("=", longest), strings.Repeat("a=b;", longest/4),
	} {
		before := time.Now()
		for range 5 {
			visit(t, w, cookie)
		}
		if took := time.Since(before); took > 2*time.Second {
			t.Errorf("five requests with %.20s… took %v", cookie, took)
		}
	}
}

func TestUnknownAlgorithmIsRoundRobinWithAWarning(t *testing.T) {
	s := start(t, setup{Workers: 1})
	s.expectLog("no load balancing algorithm least_luck")
	endpoints := pods(t, 2)
	w := s.serve(backend{Name: "shop", LoadBalance: "least_luck", Endpoints: endpoints})[0]
	wantEven(t, tally(t, w, 10), endpoints, 5)
	s.awaitMark([]*worker{w}, s.post(backend{Name: "shop", LoadBalance: "least_luck", Endpoints: endpoints}))
	if n := strings.Count(s.nginx.ErrorLog(), "least_luck"); n != 1 {
		t.Errorf("%d warnings, want one", n)
	}
}

func TestIPv6Endpoint(t *testing.T) {
	listener, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("needs IPv6 loopback: ", err)
	}
	s := start(t, setup{Workers: 1})
	endpoints := []endpoint{servePod(t, listener)}
	wantEven(t, tally(t, s.serve(backend{Name: "shop", Endpoints: endpoints})[0], 3), endpoints, 3)
}

func TestARealRoundRobinLibraryTakesPrecedence(t *testing.T) {
	dir := nginxtest.Folder(t)
	if err := os.Mkdir(dir+"/resty", 0o755); err != nil {
		t.Fatal(err)
	}
	library := `
local _M = {}
function _M.new(_, nodes) return setmetatable({ nodes = nodes }, { __index = _M }) end
function _M.find(self) return (next(self.nodes)) end -- always the same one
return _M
`
	if err := os.WriteFile(dir+"/resty/roundrobin.lua", []byte(library), 0o644); err != nil {
		t.Fatal(err)
	}
	s := start(t, setup{Workers: 1, LuaPath: dir + "/?.lua;"})
	w := s.serve(backend{Name: "shop", Endpoints: pods(t, 3)})[0]
	if got := tally(t, w, 6); len(got) != 1 {
		t.Errorf("pods %v responded: Lua loaded the fallback, although the library exists", got)
	}
}
