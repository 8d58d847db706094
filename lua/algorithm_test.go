package lua_test

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/internal/nginxtest"
)

// seeding is a location that sets a fixed seed in a worker. It calls the original math.randomseed,
// because the replacement in lua_ingress ignores a second seed.
const seeding = `location = /seed { content_by_lua_block {
for i = 1, 9 do
  local name, value = debug.getupvalue(math.randomseed, i)
  if name == "seed_random" then value(tonumber(ngx.var.arg_n)) ngx.say("seeded") return end
end
} }`

func (w *worker) seed(n int) {
	w.site.t.Helper()
	if got := w.getPath(fmt.Sprint("/seed?n=", n)); got.body != "seeded\n" {
		w.site.t.Fatalf("seeding: %d %s", got.status, got.body)
	}
}

func hashBy(value string, subset int) map[string]any {
	by := map[string]any{"upstream-hash-by": value, "upstream-hash-by-subset-size": 3}
	if subset > 0 {
		by["upstream-hash-by-subset"], by["upstream-hash-by-subset-size"] = true, subset
	}
	return by
}

// owners requests n keys and returns the pod of each.
func owners(t *testing.T, w *worker, n int) map[string]string {
	t.Helper()
	pods := map[string]string{}
	for i := range n {
		key := fmt.Sprint("key-", i)
		got := w.get("X-Upstream", "shop", "X-Key", key)
		if got.status != http.StatusOK {
			t.Fatalf("%s: status %d", key, got.status)
		}
		pods[key] = got.pod
	}
	return pods
}

func TestChashBindsAKeyInEveryWorker(t *testing.T) {
	s := start(t, setup{})
	endpoints := pods(t, 5)
	shop := backend{Name: "shop", HashBy: hashBy("$http_x_key-${server_port}", 0), Endpoints: endpoints}
	workers := s.serve(shop)
	before := owners(t, workers[0], 60)
	if other := owners(t, workers[1], 60); !maps.Equal(before, other) {
		t.Errorf("workers disagree:\n%v\n%v", before, other)
	}

	// A new order of endpoints moves no keys; removing one moves only its own keys.
	shop.Endpoints = slices.Clone(endpoints)
	slices.Reverse(shop.Endpoints)
	s.awaitMark(workers, s.post(shop))
	if after := owners(t, workers[0], 60); !maps.Equal(before, after) {
		t.Errorf("a new order moved keys:\n%v\n%v", before, after)
	}
	gone := endpoints[2].String()
	shop.Endpoints = slices.Delete(slices.Clone(endpoints), 2, 3)
	s.awaitMark(workers, s.post(shop))
	moved := 0
	for key, pod := range owners(t, workers[0], 60) {
		switch {
		case pod == gone:
			t.Errorf("%s maps to %s, which was removed", key, pod)
		case before[key] == gone:
			moved++
		case before[key] != pod:
			t.Errorf("%s moved from %s to %s unnecessarily", key, before[key], pod)
		}
	}
	if moved == 0 || moved > 30 {
		t.Errorf("%d of 60 keys moved, want about 12", moved)
	}
}

func TestChashAppliesANewKey(t *testing.T) {
	s := start(t, setup{Workers: 1})
	shop := backend{Name: "shop", HashBy: hashBy("always the same", 0), Endpoints: pods(t, 5)}
	w := s.serve(shop)[0]
	if n := len(invert(owners(t, w, 30))); n != 1 {
		t.Errorf("%d pods answered one key", n)
	}
	shop.HashBy = hashBy("$http_x_key", 0)
	s.awaitMark([]*worker{w}, s.post(shop))
	if n := len(invert(owners(t, w, 30))); n < 3 {
		t.Errorf("%d pods answered 30 keys", n)
	}
}

// invert counts the keys of each pod.
func invert(owners map[string]string) map[string]int {
	counts := map[string]int{}
	for _, pod := range owners {
		counts[pod]++
	}
	return counts
}

func TestChashSubsetSpreadsAKeyOverItsSet(t *testing.T) {
	s := start(t, setup{Workers: 1, Server: seeding})
	endpoints := pods(t, 7) // sets of 3: the last one has one new endpoint and the first two
	w := s.serve(backend{Name: "shop", HashBy: hashBy("$http_x_key", 3), Endpoints: endpoints})[0]
	w.seed(1)
	sets := map[string]bool{}
	for i := range 12 {
		answers := map[string]bool{}
		for range 25 {
			answers[w.get("X-Upstream", "shop", "X-Key", fmt.Sprint(i)).pod] = true
		}
		sets[strings.Join(slices.Sorted(maps.Keys(answers)), " ")] = true
	}
	want := map[string]bool{}
	for _, members := range [][]int{{0, 1, 2}, {3, 4, 5}, {6, 0, 1}} {
		var names []string
		for _, i := range members {
			names = append(names, endpoints[i].String())
		}
		slices.Sort(names)
		want[strings.Join(names, " ")] = true
	}
	if !maps.Equal(sets, want) {
		t.Errorf("sets %v, want %v", sets, want)
	}
}

// scoring is a location that sets the score of an endpoint.
const scoring = `location = /score { content_by_lua_block {
ngx.shared.balancer_ewma:set(ngx.var.arg_of, tonumber(ngx.var.arg_is))
ngx.shared.balancer_ewma_last_touched_at:set(ngx.var.arg_of, ngx.now())
} }
location = /scores { content_by_lua_block {
local keys = ngx.shared.balancer_ewma:get_keys()
table.sort(keys)
for _, key in ipairs(keys) do ngx.say(key, " ", ngx.shared.balancer_ewma:get(key)) end
} }`

func TestEWMAPrefersTheFasterOfTwo(t *testing.T) {
	s := start(t, setup{Workers: 1, Server: scoring + seeding})
	endpoints := pods(t, 3)
	w := s.serve(backend{Name: "shop", LoadBalance: "ewma", Endpoints: endpoints})[0]
	for i, score := range []int{1e9, 1e6, 1e3} { // far enough apart that responses do not change the order
		w.getPath(fmt.Sprintf("/score?of=%v&is=%d", endpoints[i], score))
	}
	w.seed(1)
	counts := tally(t, w, 60)
	want := map[string]int{endpoints[1].String(): 17, endpoints[2].String(): 43}
	if !maps.Equal(counts, want) {
		t.Errorf("answers %v, want %v", counts, want)
	}
}

func TestEWMATriesAnotherEndpointAndLearns(t *testing.T) {
	s := start(t, setup{Workers: 1, Server: scoring})
	s.expectLog("Connection refused")
	alive := pods(t, 1)
	host, port, _ := net.SplitHostPort(nginxtest.FreeAddress(t))
	w := s.serve(backend{Name: "shop", LoadBalance: "ewma", Endpoints: append([]endpoint{{host, port}}, alive...)})[0]
	w.getPath(fmt.Sprintf("/score?of=%v&is=1000", alive[0])) // so that the other one is tried first
	wantEven(t, tally(t, w, 5), alive, 5)
	// The log phase, which updates the score, comes after the response.
	s.nginx.Await("another score", func() bool {
		got := w.getPath("/scores").body
		return strings.Contains(got, alive[0].String()) && !strings.Contains(got, alive[0].String()+" 1000\n")
	})
}

func TestEWMAForgetsAndSeedsEndpoints(t *testing.T) {
	s := start(t, setup{Workers: 1, Server: scoring})
	endpoints := pods(t, 4)
	shop := backend{Name: "shop", LoadBalance: "ewma", Endpoints: endpoints[:3]}
	w := s.serve(shop)[0]
	for i, score := range []int{10, 20, 60} {
		w.getPath(fmt.Sprintf("/score?of=%v&is=%d", endpoints[i], score))
	}
	shop.Endpoints = []endpoint{endpoints[0], endpoints[1], endpoints[3]}
	s.awaitMark([]*worker{w}, s.post(shop))
	want := map[string]string{}
	for i, score := range map[int]string{0: "10", 1: "20", 3: "15"} {
		want[endpoints[i].String()] = score
	}
	got := map[string]string{}
	for line := range strings.Lines(w.getPath("/scores").body) {
		name, score, _ := strings.Cut(strings.TrimSpace(line), " ")
		got[name] = score
	}
	if !maps.Equal(got, want) {
		t.Errorf("scores %v, want %v", got, want)
	}
}

func TestNewAlgorithmResetsTheInstance(t *testing.T) {
	s := start(t, setup{Workers: 1})
	endpoints := pods(t, 2)
	shop := backend{Name: "shop", Endpoints: endpoints}
	w := s.serve(shop)[0]
	shop.LoadBalance = "ewma"
	s.awaitMark([]*worker{w}, s.post(shop))
	tally(t, w, 4)
	if !strings.Contains(s.nginx.ErrorLog(), "LB algorithm changed from round_robin to ewma, resetting the instance") {
		t.Error("the change is not in the log")
	}
}
