package render_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/render"
)

// guard is an authentication service. It admits the user ali and counts its requests by URL.
type guard struct {
	sync.Mutex
	asked map[string]int
}

func (g *guard) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	url := r.Header.Get("X-Original-Url")
	g.Lock()
	g.asked[url]++
	g.Unlock()
	if r.Header.Get("X-Kind") != "ingress" && r.URL.Path == "/check" {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	if strings.Contains(url, "login") { // nginx does not cache responses that set a cookie
		w.Header().Set("Set-Cookie", "seen=1")
	}
	if r.Header.Get("Cookie") != "user=ali" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	w.Header().Set("X-User", "ali via "+r.Method)
}

// guarded returns a model whose hosts use the authentication service in different ways. all.example
// uses only the ConfigMap's service.
func guarded(t *testing.T, in render.Input, service model.Endpoint) *model.Model {
	own := annotations.ExternalAuth{
		URL: "http://" + service.HostPort() + "/check", Host: "auth.example", ResponseHeaders: []string{"X-User"},
		ProxySetHeaders: map[string]string{"X-Kind": "ingress"},
	}
	asks := func(change func(*annotations.ExternalAuth)) func(*model.Location) {
		return func(l *model.Location) {
			l.ExternalAuth = own
			change(&l.ExternalAuth)
		}
	}
	m := hosts(in, pod(t, told), map[string]func(*model.Location){
		"asked.example":  asks(func(*annotations.ExternalAuth) {}),
		"posted.example": asks(func(a *annotations.ExternalAuth) { a.Method = "POST" }),
		"kept.example": asks(func(a *annotations.ExternalAuth) {
			a.KeepaliveConnections, a.KeepaliveRequests, a.KeepaliveTimeout = 2, 100, 10
		}),
		"cached.example": asks(func(a *annotations.ExternalAuth) {
			a.AuthCacheKey, a.AuthCacheDuration = "$cookie_user", []string{"200 401 1m"}
		}),
		"login.example": asks(func(a *annotations.ExternalAuth) { a.SigninURL = "https://id.example/login?x=1" }),
		"elsewhere.example": func(l *model.Location) {
			l.ExternalAuth = annotations.ExternalAuth{URL: "http://no.such.host.invalid/"}
		},
		"optout.example": func(l *model.Location) { l.EnableGlobalAuth = false },
	})
	for i, server := range m.Servers {
		if server.Hostname == "known.example" {
			m.Servers[i].Locations[0].EnableGlobalAuth = false // the fixture checks readiness there
		}
	}
	m.Servers = append(m.Servers, &model.Server{Hostname: "all.example", Locations: []*model.Location{
		plain(in, "/.well-known/acme-challenge/", "demo-web-80"), plain(in, "/", "demo-web-80"),
	}})
	return m
}

var (
	ali     = with("Cookie", "user=ali")
	viaGET  = []string{"X-User: ali via GET"}
	viaPOST = []string{"X-User: ali via POST"}
)

var authExchanges = map[string]exchange{
	"asked":                         {"asked.example", "/", ali, 200, nil, viaGET},
	"auth-method POST":              {"posted.example", "/", ali, 200, nil, viaPOST},
	"auth-keepalive":                {"kept.example", "/", ali, 200, nil, viaGET},
	"auth-cache-key":                {"cached.example", "/", ali, 200, nil, viaGET},
	"auth-signin":                   {"login.example", "/", ali, 200, nil, viaGET},
	"for all":                       {"all.example", "/", ali, 200, nil, nil},
	"asked, without the cookie":     {"asked.example", "/", nil, 401, nil, nil},
	"keepalive, without the cookie": {"kept.example", "/", nil, 401, nil, nil},
	"cached, without the cookie":    {"cached.example", "/", nil, 401, nil, nil},
	"for all, without the cookie":   {"all.example", "/", nil, 401, nil, nil},
	"auth-signin, without the cookie": {"login.example", "/a?b=c&d", nil, 302, map[string]string{
		"Location": "https://id.example/login?x=1&rd=http://login.example%2Fa%3Fb%3Dc%26d", "Set-Cookie": "seen=1"}, nil},
	"a service that does not exist": {"elsewhere.example", "/", ali, 500, nil, nil},
	"a path that needs no login":    {"all.example", "/.well-known/acme-challenge/x", nil, 200, nil, nil},
	"enable-global-auth false":      {"optout.example", "/", nil, 200, nil, nil},
}

// nginx sends each request to the external authentication service, whose response decides.
func TestExternalAuth(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]map[string]string{"with HTTP/2": nil, "without HTTP/2": {"use-http2": "false"}} {
		t.Run(name, func(t *testing.T) {
			guard := &guard{asked: make(map[string]int)}
			service := pod(t, guard.ServeHTTP)
			in, program := here(t, config)
			in.Options.Config.GlobalAuthURL = "http://" + service.HostPort() + "/global"
			in.Options.Config.NoAuthLocations = []string{"/.well-known/acme-challenge"}
			s := serve(t, guarded(t, in, service), in, program)
			for name, e := range authExchanges {
				t.Run(name, func(t *testing.T) { e.check(t, s) })
			}

			// The cache contains the response for this user.
			for range 3 {
				s.ask("cached.example", "/often", ali)
			}
			guard.Lock()
			defer guard.Unlock()
			if n := guard.asked["http://cached.example/often"]; n > 0 {
				t.Errorf("%d requests for a response cached for this user", n)
			}
		})
	}
}
