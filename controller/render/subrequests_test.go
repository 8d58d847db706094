package render_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/internal/nginxtest"
)

// Services that authenticate a request, get a mirrored copy of it, or answer its error get the
// client's address from nginx, regardless of the client's own headers.
func TestClientsCannotForgeHeaders(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]map[string]string{
		"with HTTP/2": {"custom-http-errors": "404"}, "without HTTP/2": {"custom-http-errors": "404", "use-http2": "false"},
	} {
		t.Run(name, func(t *testing.T) {
			in, program := here(t, config)
			told := make(chan string, 10)
			hears := func(who string) model.Endpoint {
				return pod(t, func(_ http.ResponseWriter, r *http.Request) {
					var text strings.Builder
					r.Header.Write(&text)
					told <- fmt.Sprintf("%s: %s\r\n%s", who, r.Host, text.String())
				})
			}
			auth := annotations.ExternalAuth{URL: "http://" + hears("auth").HostPort() + "/check", Host: "auth.example"}
			kept := auth
			kept.KeepaliveConnections, kept.KeepaliveRequests, kept.KeepaliveTimeout = 2, 100, 10
			posts := auth
			posts.Method = "POST"
			own := auth
			own.ProxySetHeaders = map[string]string{"x-original-uri": "own"}
			mirror := annotations.Mirror{Source: "_mirror-uid", RequestBody: "on", Target: "http://" + hears("mirror").HostPort() + "$request_uri", Host: "copy.example"}
			m := hosts(in, pod(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/missing" {
					w.WriteHeader(http.StatusNotFound)
				}
			}), map[string]func(*model.Location){
				"asked.example":    func(l *model.Location) { l.ExternalAuth = auth },
				"kept.example":     func(l *model.Location) { l.ExternalAuth = kept },
				"posted.example":   func(l *model.Location) { l.ExternalAuth = posts },
				"own.example":      func(l *model.Location) { l.ExternalAuth = own },
				"mirrored.example": func(l *model.Location) { l.Mirror = mirror },
			})
			m.Backends.Find(model.DefaultBackendName).Endpoints = []model.Endpoint{hears("error")}
			s := serve(t, m, in, program)

			lies := func(r *http.Request) {
				for _, name := range append([]string{
					"X-Real-Ip", "X-Forwarded-For", "X-Original-Uri", "X-Original-Url", "X-Original-Method", "X-Scheme", "X-Forwarded-Proto", "X-Sent-From", "Proxy",
					"X-Auth-Request-Redirect", "X-Request-Id-Of-Nobody",
				}, "Forwarded", "X-Forwarded-Host", "X-Forwarded-Method", "X-Forwarded-Port", "X-Forwarded-Prefix", "X-Forwarded-Scheme", "X-Forwarded-Server", "X-Forwarded-Uri") {
					r.Header.Set(name, "lie")
				}
				r.Header.Set("Connection", "close, X-Real-Ip")
			}
			ofAuth := []string{"X-Real-Ip: 127.0.0.1", "X-Forwarded-For: 127.0.0.1", "X-Original-Uri: /page?a=b", "X-Original-Url: http://{host}/page?a=b", "X-Original-Method: GET",
				"X-Scheme: http", "X-Sent-From: nginx-ingress-controller", "X-Auth-Request-Redirect: /page?a=b"}
			ofPods := []string{"X-Real-Ip: 127.0.0.1", "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Host: {host}", "X-Forwarded-Proto: http", "X-Scheme: http"}
			for _, test := range []struct {
				host, path, who string
				has             []string
				lies            int // headers that nginx does not set, so the client's remain
			}{
				{"asked.example", "/page?a=b", "auth: auth.example", ofAuth, 1},
				{"kept.example", "/page?a=b", "auth: auth.example", ofAuth, 1},
				{"posted.example", "/page?a=b", "auth: auth.example", ofAuth, 1},
				{"own.example", "/page?a=b", "auth: auth.example", append([]string{"X-Original-Uri: own"}, ofAuth[3:]...), 1},
				// These headers reach pods as the client sent them, and so do mirrored requests and
				// errors.
				{"mirrored.example", "/page", "mirror: copy.example", ofPods, 12},
				{"known.example", "/missing", "error: known.example", append([]string{"X-Code: 404", "X-Original-Uri: /missing"}, ofPods...), 12},
			} {
				s.ask(test.host, test.path, lies)
				got := next(t, told)
				if !strings.HasPrefix(got, test.who+"\r\n") {
					t.Errorf("%s: got %q", test.host, got)
				}
				for _, header := range test.has {
					header = strings.ReplaceAll(header, "{host}", test.host)
					if !strings.Contains(got, header+"\r\n") {
						t.Errorf("%s: no %s in\n%s", test.host, header, got)
					}
				}
				if n := strings.Count(got, ": lie"); n != test.lies {
					t.Errorf("%s: %d headers have the client's values, want %d:\n%s", test.host, n, test.lies, got)
				}
				if strings.Count(got, "X-Original-Uri:") > 1 {
					t.Errorf("%s: X-Original-URI twice:\n%s", test.host, got)
				}
			}
		})
	}
}

// Error pages do not replace the responses of the controller's own servers.
func TestErrorPagesDoNotAffectTheControllersServers(t *testing.T) {
	t.Parallel()
	in, program := here(t, map[string]string{"custom-http-errors": "403,404,405,500"})
	m := hosts(in, pod(t, told), nil)
	page := pod(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "page") })
	m.Servers = append(m.Servers, &model.Server{Hostname: "errors.example", Locations: []*model.Location{plain(in, "/", "demo-web-80")}})
	m.Backends.Find(model.DefaultBackendName).Endpoints = []model.Endpoint{page}
	s := serve(t, m, in, program)
	for _, test := range []struct{ url, want string }{
		{fmt.Sprintf("http://127.0.0.1:%d/none", s.Status), "404"},
		{fmt.Sprintf("http://127.0.0.1:%d/configuration/none", s.Status), "404"},
		{fmt.Sprintf("http://127.0.0.1:%d/", s.Default), "404"},
	} {
		response, err := http.Get(test.url)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if got := fmt.Sprint(response.StatusCode); got != test.want {
			t.Errorf("%s: %s, want %s", test.url, got, test.want)
		}
	}
	if got := s.ask("errors.example", "/missing", nil); got.Body != "page" {
		t.Errorf("custom-http-errors: %d %q", got.Status, got.Body)
	}
}

// A mirrored request that fails causes no error, and only the client's request is logged.
func TestFailingMirrorsHaveNoEffect(t *testing.T) {
	t.Parallel()
	in, program := here(t, map[string]string{"custom-http-errors": "502", "log-format-upstream": "$host $uri $status <$proxy_upstream_name>"})
	pages := make(chan string, 10)
	page := pod(t, func(_ http.ResponseWriter, r *http.Request) { pages <- r.Header.Get("X-Code") })
	m := hosts(in, pod(t, told), map[string]func(*model.Location){"mirrored.example": func(l *model.Location) {
		l.Mirror = annotations.Mirror{Source: "_mirror-uid", RequestBody: "on", Target: "http://127.0.0.1:1", Host: "copy.example"}
	}})
	m.Backends.Find(model.DefaultBackendName).Endpoints = []model.Endpoint{page}
	s := serve(t, m, in, program)
	if got := s.ask("mirrored.example", "/page", nil); got.Status != 200 || !strings.HasPrefix(got.Body, "GET /page ") {
		t.Errorf("%d %q", got.Status, got.Body)
	}
	if got := s.logged("mirrored.example "); got != "mirrored.example /page 200 <demo-web-80>\n" {
		t.Errorf("access log: %q", got)
	}
	select {
	case code := <-pages:
		t.Errorf("the default backend gets a request for the page of %s", code)
	default:
	}
}

// Requests to the authentication service are logged only if that is configured.
func TestAuthRequestsAreLoggedIfEnabled(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"true":  "asked.example _external-auth-Lw-Prefix 401\nasked.example /page 401\n",
		"false": "asked.example /page 401\n",
	} {
		t.Run(value, func(t *testing.T) {
			in, program := here(t, map[string]string{"enable-auth-access-log": value, "log-format-upstream": "$host $uri $status"})
			service := pod(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) })
			s := serve(t, hosts(in, pod(t, told), map[string]func(*model.Location){"asked.example": func(l *model.Location) {
				l.ExternalAuth = annotations.ExternalAuth{URL: "http://" + service.HostPort() + "/check", Host: "auth.example"}
			}}), in, program)
			s.ask("asked.example", "/page", nil)
			if got := s.logged("asked.example "); strings.ReplaceAll(got, " / 401", " _external-auth-Lw-Prefix 401") != want {
				t.Errorf("access log: %q, want %q", got, want)
			}
		})
	}
}

// logged returns the lines of the access log that begin with prefix. It waits for the log line of
// the last request, for /page, because nginx logs after it responds.
func (s *site) logged(prefix string) string {
	s.Helper()
	for deadline := time.Now().Add(nginxtest.Patience); ; time.Sleep(10 * time.Millisecond) {
		text, err := os.ReadFile(s.root + "/var/log/nginx/access.log")
		if err != nil {
			s.Fatal(err)
		}
		var lines strings.Builder
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, prefix) {
				lines.WriteString(line)
			}
		}
		if strings.Contains(lines.String(), prefix+"/page ") {
			return lines.String()
		}
		if time.Now().After(deadline) {
			s.Fatalf("not logged: %s", text)
		}
	}
}
