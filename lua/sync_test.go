package lua_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// peeking is a location that returns this worker's backends, each with its algorithm, endpoints,
// canaries and policy. It syncs first, so no test waits for a poll.
const peeking = `location = /peek { content_by_lua_block {
local cjson = require("cjson.safe")
local function upvalue(f, wanted)
  for i = 1, 60 do
    local name, value = debug.getupvalue(f, i)
    if name == wanted then return value end
    if name == nil then return nil end
  end
end
upvalue(balancer.init_worker, "sync_backends")()
local out = {}
for name, instance in pairs(upvalue(balancer.get_balancer_by_upstream_name, "balancers")) do
  local nodes = {}
  for node in pairs(instance.nodes or {}) do nodes[#nodes + 1] = node end
  for _, peer in ipairs(instance.peers or instance.current_endpoints or {}) do
    nodes[#nodes + 1] = peer.address .. ":" .. peer.port
  end
  table.sort(nodes)
  local ids = {}
  local inner = instance.instance
  for _, id in pairs(inner and not instance.subsets and (inner.ids or inner.endpoints) or {}) do ids[#ids + 1] = id end
  table.sort(ids)
  out[#out + 1] = {
    name = name, algorithm = instance.name, nodes = table.concat(nodes, " "),
    inside = table.concat(ids, " "),
    canaries = table.concat(instance.alternative_backends or {}, " "),
    weight = instance.traffic_shaping_policy and instance.traffic_shaping_policy.weight or 0,
  }
end
table.sort(out, function(a, b) return a.name < b.name end)
ngx.print(cjson.encode(out))
} }`

// served is a backend in the response of /peek.
type served struct {
	Name, Algorithm, Nodes, Inside, Canaries string
	Weight                                   int
}

func (w *worker) peek() []served {
	t := w.site.t
	t.Helper()
	got := w.getPath("/peek")
	var all []served
	if err := json.Unmarshal([]byte(got.body), &all); err != nil && got.body != "{}" {
		t.Fatalf("%v: %s", err, got.body)
	}
	return all
}

// kinds are backends with different algorithms.
var kinds = map[string]func(*backend){
	"round_robin":       func(*backend) {},
	"ewma":              func(b *backend) { b.LoadBalance = "ewma" },
	"chash":             func(b *backend) { b.HashBy = hashBy("$request_uri", 0) },
	"chashsubset":       func(b *backend) { b.HashBy = hashBy("$request_uri", 2) },
	"sticky_balanced":   func(b *backend) { b.Affinity = affinity("balanced", nil) },
	"sticky_persistent": func(b *backend) { b.Affinity = affinity("persistent", nil) },
}

// cluster is the reference model: backends by name with their endpoints.
type cluster map[string]*model

type model struct {
	kind      string
	endpoints []string
	canaries  []string
	weight    int
}

// change makes one random change, as a busy cluster would.
func (c cluster) change(random *rand.Rand) {
	name := fmt.Sprint("backend-", random.IntN(8))
	m := c[name]
	if m == nil {
		algorithms := slices.Sorted(maps.Keys(kinds))
		c[name] = &model{kind: algorithms[random.IntN(len(algorithms))]}
		m = c[name]
	}
	switch n := random.IntN(20); {
	case n < 9:
		e := fmt.Sprintf("10.1.%d.%d:80", random.IntN(4), random.IntN(30))
		if random.IntN(10) == 0 {
			e = fmt.Sprintf("[fd00::%x]:80", random.IntN(30)+1)
		}
		if !slices.Contains(m.endpoints, e) {
			m.endpoints = append(m.endpoints, e)
		}
	case n < 15 && len(m.endpoints) > 0:
		i := random.IntN(len(m.endpoints))
		m.endpoints = slices.Delete(m.endpoints, i, i+1)
	case n < 16:
		delete(c, name)
	case n < 17:
		algorithms := slices.Sorted(maps.Keys(kinds))
		m.kind = algorithms[random.IntN(len(algorithms))]
	case n < 18:
		m.canaries = []string{fmt.Sprint("backend-", random.IntN(8))}
	case n < 19:
		m.canaries = nil
	default:
		m.weight = random.IntN(101)
	}
}

// backends returns the backends that the controller would POST, in random order.
func (c cluster) backends(random *rand.Rand) []backend {
	var list []backend
	for _, name := range slices.Sorted(maps.Keys(c)) {
		m := c[name]
		b := backend{Name: name, Canaries: m.canaries, Policy: map[string]any{"weight": m.weight}}
		kinds[m.kind](&b)
		for _, e := range m.endpoints {
			i := strings.LastIndexByte(e, ':')
			b.Endpoints = append(b.Endpoints, endpoint{strings.Trim(e[:i], "[]"), e[i+1:]})
		}
		random.Shuffle(len(b.Endpoints), func(i, j int) { b.Endpoints[i], b.Endpoints[j] = b.Endpoints[j], b.Endpoints[i] })
		list = append(list, b)
	}
	random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	return list
}

// want returns the backends that a worker must serve after that POST.
func (c cluster) want() []served {
	var all []served
	for _, name := range slices.Sorted(maps.Keys(c)) {
		m := c[name]
		if len(m.endpoints) == 0 {
			continue
		}
		nodes := strings.Join(slices.Sorted(slices.Values(m.endpoints)), " ")
		s := served{Name: name, Algorithm: m.kind, Nodes: nodes, Inside: nodes, Canaries: strings.Join(m.canaries, " "), Weight: m.weight}
		if m.kind == "ewma" || m.kind == "chashsubset" {
			s.Inside = ""
		}
		all = append(all, s)
	}
	return all
}

func (s *site) postAsIs(backends []backend) {
	s.t.Helper()
	if backends == nil {
		backends = []backend{}
	}
	text, err := json.Marshal(backends)
	if err != nil {
		s.t.Fatal(err)
	}
	if status, _ := s.call(http.MethodPost, "/configuration/backends", string(text)); status != http.StatusCreated {
		s.t.Fatalf("POST: %d", status)
	}
}

func TestRandomChangesAgainstAModel(t *testing.T) {
	s := start(t, setup{Workers: 1, Server: peeking})
	w := s.workers("none")[0]
	random := rand.New(rand.NewPCG(5, 1))
	c := cluster{}
	for i := range 1000 {
		c.change(random)
		s.postAsIs(c.backends(random))
		if got, want := w.peek(), c.want(); !slices.Equal(got, want) {
			t.Fatalf("after change %d the worker serves\n%+v\nwant\n%+v", i, got, want)
		}
	}
}

// A worker that has polled intermediate states finally serves the same state as a worker that
// polled only the last one.
func TestWorkersConvergeToTheSameState(t *testing.T) {
	s := start(t, setup{Server: peeking})
	s.expectLog("could not parse backends data")
	workers := s.workers("none")
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 2))
		c := cluster{}
		for range 60 {
			c.change(random)
			switch random.IntN(12) {
			case 0:
				if status, _ := s.call(http.MethodPost, "/configuration/backends", "[{"); status != http.StatusCreated {
					t.Fatalf("POST: %d", status)
				}
			case 1:
				s.postAsIs(nil)
			default:
				s.postAsIs(c.backends(random))
			}
			if random.IntN(3) == 0 {
				workers[random.IntN(2)].peek()
			}
		}
		s.postAsIs(c.backends(random))
		first, second := workers[0].peek(), workers[1].peek()
		if want := c.want(); !slices.Equal(first, want) || !slices.Equal(second, want) {
			t.Fatalf("seed %d: the workers serve\n%+v\n%+v\nwant\n%+v", seed, first, second, want)
		}
	}
}
