package lua_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// side returns "canary" or "primary" for a pod.
func side(pod string, canary []endpoint) string {
	for _, e := range canary {
		if pod == e.String() {
			return "canary"
		}
	}
	return "primary"
}

func TestCanaryPrecedence(t *testing.T) {
	s := start(t, setup{Workers: 1})
	s.expectLog("error when matching canary-by-header-pattern")
	type policy = map[string]any
	primary, canary := pods(t, 1), pods(t, 1)
	cases := []struct {
		name   string
		policy policy
		header string
		want   string
	}{
		{"nothing", policy{}, "", "primary"},
		{"weight 0", policy{"weight": 0}, "", "primary"},
		{"weight 100", policy{"weight": 100}, "", "canary"},
		{"weight 100 of 1000000000", policy{"weight": 1, "weightTotal": 1000000000}, "", "primary"},
		{"a total below 100 counts as 100", policy{"weight": 100, "weightTotal": 50}, "", "canary"},
		{"header always", policy{"header": "X-Canary"}, "X-Canary:always", "canary"},
		{"header never", policy{"header": "X-Canary", "weight": 100}, "X-Canary:never", "primary"},
		{"header with another value", policy{"header": "X-Canary", "weight": 100}, "X-Canary:maybe", "canary"},
		{"header before cookie", policy{"header": "X-Canary", "cookie": "c"}, "X-Canary:always Cookie:c=never", "canary"},
		{"value equal", policy{"header": "X-Canary", "headerValue": "blue"}, "X-Canary:blue", "canary"},
		{"value unequal falls through", policy{"header": "X-Canary", "headerValue": "blue", "weight": 100}, "X-Canary:red", "canary"},
		{"value: always has no meaning", policy{"header": "X-Canary", "headerValue": "blue"}, "X-Canary:always", "primary"},
		{"value: never has no meaning", policy{"header": "X-Canary", "headerValue": "blue", "cookie": "c"}, "X-Canary:never Cookie:c=always", "canary"},
		{"value before pattern", policy{"header": "X-Canary", "headerValue": "blue", "headerPattern": "."}, "X-Canary:red", "primary"},
		{"pattern matches", policy{"header": "X-Canary", "headerPattern": "^b.*e$"}, "X-Canary:blue", "canary"},
		{"pattern does not match", policy{"header": "X-Canary", "headerPattern": "^b.*e$"}, "X-Canary:red", "primary"},
		{"pattern falls through", policy{"header": "X-Canary", "headerPattern": "^b", "weight": 100}, "X-Canary:red", "canary"},
		{"invalid pattern", policy{"header": "X-Canary", "headerPattern": "[", "weight": 100}, "X-Canary:red", "primary"},
		{"cookie always", policy{"cookie": "c"}, "Cookie:c=always", "canary"},
		{"cookie never", policy{"cookie": "c", "weight": 100}, "Cookie:c=never", "primary"},
		{"cookie with another value", policy{"cookie": "c", "weight": 100}, "Cookie:c=x", "canary"},
		{"no cookie", policy{"cookie": "c"}, "", "primary"},
	}
	var backends []backend
	for i, c := range cases {
		full := policy{"weight": 0, "weightTotal": 0, "header": "", "headerValue": "", "headerPattern": "", "cookie": ""}
		for key, value := range c.policy {
			full[key] = value
		}
		backends = append(backends,
			backend{Name: fmt.Sprint("p", i), Canaries: []string{fmt.Sprint("c", i)}, Endpoints: primary},
			backend{Name: fmt.Sprint("c", i), Policy: full, Endpoints: canary})
	}
	w := s.serve(backends...)[0]
	for i, c := range cases {
		header := []string{"X-Upstream", fmt.Sprint("p", i)}
		for _, field := range strings.Fields(c.header) {
			name, value, _ := strings.Cut(field, ":")
			header = append(header, name, value)
		}
		got := w.get(header...)
		if side(got.pod, canary) != c.want || got.status != http.StatusOK {
			t.Errorf("%s: %s answered (%d), want %s", c.name, side(got.pod, canary), got.status, c.want)
		}
	}
}

func TestCanaryWeightIsAShare(t *testing.T) {
	s := start(t, setup{Workers: 1, Server: seeding})
	primary, canary := pods(t, 1), pods(t, 1)
	w := s.serve(backend{Name: "shop", Canaries: []string{"new"}, Endpoints: primary},
		backend{Name: "new", Policy: map[string]any{"weight": 30}, Endpoints: canary},
		backend{Name: "wide", Canaries: []string{"rare"}, Endpoints: primary},
		backend{Name: "rare", Policy: map[string]any{"weight": 30, "weightTotal": 1000}, Endpoints: canary})[0]
	for upstream, want := range map[string]int{"shop": 327, "wide": 35} {
		w.seed(7)
		n := 0
		for range 1000 {
			if side(w.get("X-Upstream", upstream).pod, canary) == "canary" {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: %d of 1000 went to the canary, want %d", upstream, n, want)
		}
	}
}

func TestMissingCanary(t *testing.T) {
	s := start(t, setup{Workers: 1})
	s.expectLog("no alternative balancer for backend: new")
	s.expectLog("traffic shaping policy is not set for balancer of backend: bare")
	primary, canary := pods(t, 1), pods(t, 1)
	w := s.serve(backend{Name: "shop", Canaries: []string{"new", "good"}, Endpoints: primary},
		backend{Name: "good", Policy: map[string]any{"weight": 100}, Endpoints: canary},
		backend{Name: "shop2", Canaries: []string{"bare"}, Endpoints: primary},
		backend{Name: "bare", Endpoints: canary})[0]
	for _, upstream := range []string{"shop", "shop2"} {
		if got := w.get("X-Upstream", upstream); side(got.pod, canary) != "primary" {
			t.Errorf("%s: the canary responded", upstream)
		}
	}
}

func TestCanaryWeightChangesWithoutNewNodes(t *testing.T) {
	for name, by := range map[string]any{"round robin": nil, "chash": hashBy("$http_x_key", 0), "chashsubset": hashBy("$http_x_key", 2)} {
		t.Run(name, func(t *testing.T) {
			s := start(t, setup{Workers: 1})
			primary, canary := pods(t, 2), pods(t, 2)
			list := []backend{
				{Name: "shop", HashBy: by, Endpoints: primary},
				{Name: "new", HashBy: by, Policy: map[string]any{"weight": 0}, Endpoints: canary},
			}
			workers := s.serve(list...)
			list[0].Canaries = []string{"new"}
			for _, c := range []struct {
				weight int
				want   string
			}{{100, "canary"}, {0, "primary"}} {
				list[1].Policy = map[string]any{"weight": c.weight}
				s.awaitMark(workers, s.post(list...))
				if got := side(workers[0].get("X-Upstream", "shop", "X-Key", "a").pod, canary); got != c.want {
					t.Errorf("weight %d: %s", c.weight, got)
				}
			}
		})
	}
}

// A client stays bound to the canary or the primary, even if the canary's rules change.
func TestCanaryAndAffinity(t *testing.T) {
	for _, mode := range []string{"balanced", "persistent"} {
		t.Run(mode, func(t *testing.T) {
			s := start(t, setup{})
			primary, canary := pods(t, 2), pods(t, 2)
			list := func(weight int) []backend {
				return []backend{
					{Name: "shop", Affinity: affinity(mode, nil), Canaries: []string{"new"}, Endpoints: primary},
					{Name: "new", Affinity: affinity(mode, nil), Policy: map[string]any{"weight": weight, "header": "X-Canary"}, Endpoints: canary},
				}
			}
			workers := s.serve(list(0)...)
			stays, givenByPrimary := visit(t, workers[0], "")
			if side(stays, canary) != "primary" {
				t.Fatal("a request with weight 0 reached the canary")
			}
			s.awaitMark(workers, s.post(list(100)...))
			moves, givenByCanary := visit(t, workers[0], "")
			if side(moves, canary) != "canary" {
				t.Fatal("a request with weight 100 did not reach the canary")
			}
			s.awaitMark(workers, s.post(list(50)...))
			for _, w := range workers {
				for range 10 {
					if pod, given := visit(t, w, pairOf(givenByPrimary), "X-Canary", "always"); pod != stays || given != "" {
						t.Errorf("a client bound to %s of the primary got a response from %s and cookie %q", stays, pod, given)
					}
					if pod, given := visit(t, w, pairOf(givenByCanary), "X-Canary", "never"); pod != moves || given != "" {
						t.Errorf("a client bound to %s of the canary got a response from %s and cookie %q", moves, pod, given)
					}
				}
			}
		})
	}
}
