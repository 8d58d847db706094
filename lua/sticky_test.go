package lua_test

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/internal/nginxtest"
)

// affinity returns a session affinity with the cookie "route" for the host shop.example.
func affinity(mode string, more map[string]any) map[string]any {
	cookie := map[string]any{"name": "route", "locations": map[string]any{"shop.example": []string{"/"}}}
	maps.Copy(cookie, more)
	return map[string]any{"name": "cookie", "mode": mode, "cookieSessionAffinity": cookie}
}

// visit sends a request, with a cookie if it is not empty, and returns the pod and the Set-Cookie
// header.
func visit(t *testing.T, w *worker, cookie string, header ...string) (pod, given string) {
	t.Helper()
	header = append([]string{"X-Upstream", "shop", "Host", "shop.example"}, header...)
	if cookie != "" {
		header = append(header, "Cookie", cookie)
	}
	got := w.get(header...)
	if got.status != http.StatusOK {
		t.Fatalf("status %d", got.status)
	}
	if n := len(got.header.Values("Set-Cookie")); n > 1 {
		t.Fatalf("%d cookies were set", n)
	}
	return got.pod, got.header.Get("Set-Cookie")
}

var sessionCookie = regexp.MustCompile(`^route=[0-9a-f.]+\|[0-9a-f]{32}; Path=/; HttpOnly$`)

func pairOf(setCookie string) string { pair, _, _ := strings.Cut(setCookie, ";"); return pair }

func TestStickyBindsAClientInEveryWorker(t *testing.T) {
	for _, mode := range []string{"balanced", "persistent"} {
		t.Run(mode, func(t *testing.T) {
			s := start(t, setup{})
			workers := s.serve(backend{Name: "shop", Affinity: affinity(mode, nil), Endpoints: pods(t, 5)})
			for range 5 {
				pod, given := visit(t, workers[0], "")
				if !sessionCookie.MatchString(given) {
					t.Fatalf("Set-Cookie %q", given)
				}
				for _, w := range append(workers, workers...) {
					again, second := visit(t, w, "other=1; route2=x; "+pairOf(given)+"; last=2")
					if again != pod || second != "" {
						t.Errorf("%s responded after %s, and the cookie is now %q", again, pod, second)
					}
				}
			}
		})
	}
}

func TestStickyCookieAttributes(t *testing.T) {
	for _, c := range []struct {
		name, want string
		more       map[string]any
		header     []string
	}{
		{"all attributes", `^route=[^;]*; Expires=[A-Z][a-z]{2}, [^;]*GMT; Max-Age=60; Domain=shop\.example; Path=/other; Secure; HttpOnly; SameSite=Strict$`, map[string]any{
			"expires": "60", "maxage": "60", "domain": "shop.example", "path": "/other", "secure": true, "samesite": "Strict"}, nil},
		{"None for who understands it", `; SameSite=None$`, map[string]any{"samesite": "None", "conditional_samesite_none": true}, []string{"User-Agent", "Chrome/120.0"}},
		{"no None for browsers that do not support it", `; HttpOnly$`, map[string]any{"samesite": "None", "conditional_samesite_none": true}, []string{"User-Agent", "Chrome/60.0"}},
		{"None for all", `; SameSite=None$`, map[string]any{"samesite": "None"}, []string{"User-Agent", "Chrome/60.0"}},
		{"another name", `^INGRESSCOOKIE=`, map[string]any{"name": "INGRESSCOOKIE"}, nil},
		{"a wildcard host", `^route=`, map[string]any{"locations": map[string]any{"*.example": []string{"/"}}}, nil},
		{"not for another host", `^$`, map[string]any{"locations": map[string]any{"other.example": []string{"/"}}}, nil},
		{"not for another path", `^$`, map[string]any{"locations": map[string]any{"shop.example": []string{"/a", "/b"}}}, nil},
		{"not without locations", `^$`, map[string]any{"locations": map[string]any{}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := start(t, setup{Workers: 1})
			w := s.serve(backend{Name: "shop", Affinity: affinity("balanced", c.more), Endpoints: pods(t, 1)})[0]
			if _, given := visit(t, w, "", c.header...); !regexp.MustCompile(c.want).MatchString(given) {
				t.Errorf("Set-Cookie %q, want %s", given, c.want)
			}
		})
	}
}

func TestStickySessionsWhenEndpointsChange(t *testing.T) {
	for mode, moveAtMost := range map[string]int{"balanced": 20, "persistent": 0} {
		t.Run(mode, func(t *testing.T) {
			s := start(t, setup{Workers: 1})
			endpoints := pods(t, 5)
			shop := backend{Name: "shop", Affinity: affinity(mode, nil), Endpoints: endpoints[:4]}
			w := s.serve(shop)[0]
			bound := map[string]string{}
			for range 40 {
				pod, given := visit(t, w, "")
				bound[pairOf(given)] = pod
			}
			shop.Endpoints = endpoints
			s.awaitMark([]*worker{w}, s.post(shop))
			moved := 0
			for cookie, pod := range bound {
				if now, _ := visit(t, w, cookie); now != pod {
					moved++
					if now != endpoints[4].String() {
						t.Errorf("a session moved from %s to %s, which is not the new endpoint", pod, now)
					}
				}
			}
			if moved > moveAtMost {
				t.Errorf("%d of 40 sessions moved", moved)
			}

			// Sessions of a removed endpoint get another one.
			shop.Endpoints = endpoints[1:]
			s.awaitMark([]*worker{w}, s.post(shop))
			for cookie, pod := range bound {
				now, given := visit(t, w, cookie)
				if now == endpoints[0].String() {
					t.Error("a removed endpoint responded")
				}
				if pod == endpoints[0].String() && mode == "persistent" && given == "" {
					t.Error("a session that lost its endpoint got no new cookie")
				}
			}
		})
	}
}

func TestStickyFailover(t *testing.T) {
	for _, mode := range []string{"balanced", "persistent"} {
		for _, change := range []bool{true, false} {
			t.Run(fmt.Sprint(mode, " change_on_failure=", change), func(t *testing.T) {
				s := start(t, setup{Workers: 1, Server: keys})
				s.expectLog("Connection refused")
				s.expectLog("upstream server temporarily disabled")
				endpoints := pods(t, 2)
				shop := backend{Name: "shop", Affinity: affinity(mode, map[string]any{"change_on_failure": change}), Endpoints: endpoints}
				w := s.serve(shop)[0]
				host, port, _ := net.SplitHostPort(nginxtest.FreeAddress(t))
				shop.Endpoints = append(slices.Clone(endpoints), endpoint{host, port})
				s.awaitMark([]*worker{w}, s.post(shop))
				// A client without a cookie gets a working endpoint. A client whose cookie names
				// the failing endpoint gets a new cookie only with change_on_failure.
				cookie := cookieOf(t, w, mode, endpoint{host, port})
				got := w.get("X-Upstream", "shop", "Host", "shop.example", "Cookie", cookie)
				want, given := http.StatusBadGateway, 0
				if change {
					want, given = http.StatusOK, 1
				}
				if got.status != want || len(got.header.Values("Set-Cookie")) != given {
					t.Errorf("status %d, cookies %q, want %d and %d", got.status, got.header.Values("Set-Cookie"), want, given)
				}
				for range 10 {
					if pod, given := visit(t, w, ""); !slices.Contains([]string{endpoints[0].String(), endpoints[1].String()}, pod) || given == "" {
						t.Errorf("pod %q, cookie %q", pod, given)
					}
				}
			})
		}
	}
}

// keys is a location that returns the cookie value of an endpoint.
const keys = `location = /key { content_by_lua_block {
local shop = balancer.get_balancer_by_upstream_name("shop")
for i = 1, 100000 do
  local key = ngx.var.arg_mode == "persistent" and ngx.md5("shop" .. ngx.var.arg_of) or tostring(i)
  if shop.instance:find(key) == ngx.var.arg_of then
    ngx.say(key, "|", shop.backend_key)
    return
  end
end
ngx.exit(404)
} }`

// cookieOf returns a cookie that maps to an endpoint; the instance inside nginx computes it.
func cookieOf(t *testing.T, w *worker, mode string, e endpoint) string {
	t.Helper()
	got := w.getPath("/key?of="+e.String()+"&mode="+mode, "X-Upstream", "shop")
	if got.status != http.StatusOK || got.body == "" {
		t.Fatalf("no key for %v: %d", e, got.status)
	}
	return "route=" + strings.TrimSpace(got.body)
}
