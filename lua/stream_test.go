package lua_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"windtunnel.dev/internal/nginxtest"
)

// streamSite starts an nginx that runs the stream modules in its http block, because Debian has no
// package of stream-lua. The modules use only functions that both subsystems have.
func streamSite(t *testing.T, with setup) (s *site, w *worker, control string) {
	t.Helper()
	control = nginxtest.FreeAddress(t)
	with.Workers = 1
	with.HTTPBlock = `lua_shared_dict tcp_udp_configuration_data 5M;
upstream tcp_udp { server 0.0.0.1; balancer_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_balancer_tcp_udp.lua; }
server { listen ` + control + `; location / { content_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_content_tcp_udp.lua; } }`
	with.Server = `location = /init { content_by_lua_block {
loadfile("{{.Root}}/etc/nginx/lua/ngx_conf_init_stream.lua")()
loadfile("{{.Root}}/etc/nginx/lua/nginx/ngx_conf_init_tcp_udp.lua")()
} }
location = /tcp {
set $proxy_upstream_name $http_x_upstream;
log_by_lua_block { tcp_udp_balancer.log() }
proxy_next_upstream error;
proxy_pass http://tcp_udp;
}`
	s = start(t, with)
	s.expectLog("writing a global Lua variable")
	s.expectLog("_G write guard") // the substitute for init_by_lua runs in a request
	w = s.workers("none")[0]
	w.getPath("/init")
	return s, w, control
}

// tell sends a line as the controller does and returns the answer, which is empty on success.
func tell(t *testing.T, control, line string) string {
	t.Helper()
	conn, err := net.Dial("tcp", control)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n%s\r\n", line)
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}

func line(t *testing.T, backends ...backend) string {
	t.Helper()
	text, err := json.Marshal(backends)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTCPAndUDPEndpoints(t *testing.T) {
	s, w, control := streamSite(t, setup{})
	endpoints := pods(t, 3)
	if listener, err := net.Listen("tcp", "[::1]:0"); err == nil {
		endpoints = append(endpoints, servePod(t, listener))
	}
	serves := func(want []endpoint) {
		t.Helper()
		s.nginx.Await(fmt.Sprint("answers of ", want), func() bool {
			seen := map[string]int{}
			for range 2 * len(want) {
				seen[w.getPath("/tcp", "X-Upstream", "tcp-db").pod]++
			}
			for _, e := range want {
				if seen[e.String()] != 2 {
					return false
				}
			}
			return true
		})
	}
	if answer := tell(t, control, line(t, backend{Name: "tcp-db", Endpoints: endpoints})); answer != "" {
		t.Errorf("the answer is %q", answer)
	}
	serves(endpoints)
	tell(t, control, line(t, backend{Name: "tcp-db", Endpoints: endpoints[:2]}))
	serves(endpoints[:2])

	// An empty line, invalid JSON and an empty list of endpoints keep the old endpoints.
	s.expectLog("could not parse backends data")
	if answer := tell(t, control, ""); answer != "" {
		t.Errorf("the answer to an empty line is %q", answer)
	}
	for _, bad := range []string{"[", "7"} {
		if answer := tell(t, control, bad); !strings.HasPrefix(answer, "error: ") {
			t.Errorf("the answer to %q is %q", bad, answer)
		}
	}
	s.expectLog("is not supported, falling back to round_robin")
	tell(t, control, line(t, backend{Name: "tcp-db"}, backend{Name: "mark", LoadBalance: "ewma", Endpoints: endpoints[2:3]}))
	s.nginx.Await("the mark", func() bool { return w.getPath("/tcp", "X-Upstream", "mark").status == http.StatusOK })
	serves(endpoints[:2])

	// A backend that is no longer listed is removed, and no connection reaches the configuration.
	host, port, _ := net.SplitHostPort(s.Status)
	s.expectLog("attempted to proxy to self")
	s.expectLog("connect() to 0.0.0.1:80 failed")
	s.expectLog("no live upstreams")
	s.expectLog("upstream timed out")
	tell(t, control, line(t, backend{Name: "mark", Endpoints: endpoints[:1]}, backend{Name: "self", Endpoints: []endpoint{{host, port}}}))
	s.nginx.Await("the removal of the backend", func() bool { return w.getPath("/tcp", "X-Upstream", "tcp-db").status != http.StatusOK })
	if got := w.getPath("/tcp", "X-Upstream", "self"); got.status == http.StatusOK {
		t.Errorf("the status server responded: %s", got.body)
	}
}

// The ExternalName of a TCP or UDP service may be an address. Only HTTP services answer 503 then.
func TestExternalNameOfTCPAndUDP(t *testing.T) {
	names := serveNames(t)
	s, w, control := streamSite(t, setup{Replace: names.asNameserver()})
	endpoints := samePort(t, 2)
	port := endpoints[0].Port
	names.set("db.example.com", endpoints[0].Address)
	tell(t, control, line(t,
		backend{Name: "tcp-name", Service: externalName, Endpoints: []endpoint{{"db.example.com", port}}},
		backend{Name: "tcp-address", Service: externalName, Endpoints: endpoints[1:]}))
	for upstream, want := range map[string]endpoint{"tcp-name": endpoints[0], "tcp-address": endpoints[1]} {
		s.nginx.Await(upstream, func() bool { return w.getPath("/tcp", "X-Upstream", upstream).pod == want.String() })
	}
	if n := names.timesAsked(endpoints[1].Address); n != 0 {
		t.Errorf("the nameserver was asked for an address %d times", n)
	}
}

func TestASilentNameDoesNotDelayOthersOfTCPAndUDP(t *testing.T) {
	names := serveNames(t)
	s, w, control := streamSite(t, setup{Replace: names.asNameserver("silent.local")})
	s.expectLog("lua udp socket read timed out")
	e := pods(t, 1)[0]
	names.set("silent.example.com")
	names.set("silent.example.com.silent.local")
	names.set("db.example.com", e.Address)
	silent := backend{Name: "tcp-silent", Service: externalName, Endpoints: []endpoint{{"silent.example.com", e.Port}}}
	tell(t, control, line(t, silent))
	s.nginx.Await("a query", func() bool { return names.timesAsked("silent.example.com") > 0 })
	tell(t, control, line(t, silent, backend{Name: "tcp-db", Service: externalName, Endpoints: []endpoint{{"db.example.com", e.Port}}}))
	s.nginx.Await("the pod", func() bool { return w.getPath("/tcp", "X-Upstream", "tcp-db").pod == e.String() })
	names.set("silent.example.com", e.Address) // nginx waits for the query when it quits
}

func TestStreamLuaOfThisNginx(t *testing.T) {
	s := start(t, setup{Workers: 1})
	if has := strings.Contains(strings.Join(s.Modules, " "), "stream_lua"); !has {
		t.Skip("this nginx has no stream-lua (Debian packages none): its entry scripts run in the http phases of TestTCPAndUDPEndpoints")
	}
}

func TestEntryScriptsOfExternalAuthentication(t *testing.T) {
	s := start(t, setup{Workers: 1, Server: `
location = /auth { internal; content_by_lua_block {
ngx.header["X-User"] = "ann" ngx.header["X-Groups"] = "g" ngx.header["Set-Cookie"] = "s=1"
ngx.exit(tonumber(ngx.var.http_x_status))
} }
location = /guarded {
set $auth_path /auth; set $auth_cookie ""; set $auth_keepalive_share_vars false;
set $auth_response_headers "X-User, X-Groups"; set $authHeader0 ""; set $authHeader1 "";
access_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_external_auth.lua;
content_by_lua_block { ngx.say(ngx.var.authHeader0, " ", ngx.var.authHeader1, " ", ngx.var.auth_cookie) }
}
location = /key {
set $tmp_cache_key "abc"; set $cache_key "";
rewrite_by_lua_file {{.Root}}/etc/nginx/lua/nginx/ngx_conf_rewrite_auth.lua;
content_by_lua_block { ngx.say(ngx.var.cache_key) }
}
location /www {
set_by_lua_file $redirect_to {{.Root}}/etc/nginx/lua/nginx/ngx_srv_redirect.lua www.shop.example;
return 308 $redirect_to;
}`})
	w := s.workers("none")[0]
	for auth, want := range map[string]int{"200": 200, "401": 401, "403": 403, "404": 500, "500": 500} {
		got := w.getPath("/guarded", "X-Status", auth)
		if got.status != want || want == 200 && got.body != "ann g s=1\n" {
			t.Errorf("authentication responds %s: %d %q, want %d", auth, got.status, got.body, want)
		}
	}
	if got := w.getPath("/key").body; got != "qZk+NkcGgWq6PiVxeFDCbJzQ2J0=\n" {
		t.Errorf("key %q", got)
	}
	_, port, _ := net.SplitHostPort(s.HTTP)
	for asked, want := range map[string]string{"/www/a?b=1": "/www/a?b=1", "/www/a/": "/www/a"} {
		if got := w.getPath(asked); got.status != 308 || got.header.Get("Location") != "http://www.shop.example:"+port+want {
			t.Errorf("got %d %s", got.status, got.header.Get("Location"))
		}
	}
}
