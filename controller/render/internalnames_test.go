package render_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/render"
	"windtunnel.dev/internal/nginxtest"
)

// Paths of ingresses and requests begin with a slash, but names of internal locations do not. So no
// ingress can claim such a name, and no request can reach it.
func TestInternalLocationsCannotBeClaimed(t *testing.T) {
	t.Parallel()
	in, program := here(t, map[string]string{"use-http2": "false"})
	t.Run("own template", func(t *testing.T) {
		namesAreSafe(t, in, func(m *model.Model) *site { return serve(t, m, in, program) })
	})
	in, program = here(t, map[string]string{"use-http2": "false"})
	in.Template = foreign(t)
	for _, name := range []string{"http_set_misc", "http_headers_more_filter", "stream"} {
		files, err := program.Load(name)
		if err != nil {
			t.Skip(err)
		}
		in.Modules = append(in.Modules, files[len(files)-1])
	}
	borrow(t, in, "mime.types", "fastcgi_params")
	t.Run("a user's template", func(t *testing.T) {
		namesAreSafe(t, in, func(m *model.Model) *site { return serve(t, m, in, program) })
	})
}

func namesAreSafe(t *testing.T, in render.Input, start func(*model.Model) *site) {
	asked, copied := make(chan string, 100), make(chan string, 100)
	service := pod(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- r.RequestURI
		if r.Header.Get("Cookie") != "user=ali" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	copies := pod(t, func(_ http.ResponseWriter, r *http.Request) { copied <- r.RequestURI })

	// The URLs have no path, and the name of the location must not become one.
	bare := annotations.ExternalAuth{URL: "http://" + service.HostPort() + "/", Host: "auth.example"}
	kept := bare
	kept.KeepaliveConnections, kept.KeepaliveRequests, kept.KeepaliveTimeout = 2, 100, 10
	mirror := annotations.Mirror{Source: "_mirror-uid", RequestBody: "on", Target: "http://" + copies.HostPort() + "/", Host: "copy.example"}
	if in.Template == nil { // only nginx can tell whether a path follows the variable
		bare.URL, kept.URL = "http://127.0.0.1:$http_port", "http://"+service.HostPort()
		mirror.Target = "http://" + copies.HostPort() + "$arg_none"
	}
	m := hosts(in, pod(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "pod "+r.URL.Path) }), map[string]func(*model.Location){
		"asked.example": func(l *model.Location) { l.ExternalAuth, l.Mirror = bare, mirror },
		"kept.example":  func(l *model.Location) { l.ExternalAuth, l.Mirror = kept, mirror },
	})
	squatted := []string{"/_external-auth-Lw-Prefix", "/_mirror-uid"}
	for _, server := range m.Servers {
		for _, path := range squatted {
			squatter := plain(in, path, "demo-web-80")
			squatter.PathType = new(networkingv1.PathTypeExact)
			server.Locations = append(server.Locations, squatter)
		}
	}
	s := start(m)
	_, port, _ := net.SplitHostPort(service.HostPort())
	for _, host := range []string{"asked.example", "kept.example"} {
		ali := func(r *http.Request) { r.Header = http.Header{"Cookie": {"user=ali"}, "Port": {port}} }
		if got := s.ask(host, "/page", ali); got.Status != 200 || got.Body != "pod /page" {
			t.Errorf("%s: %d %q", host, got.Status, got.Body)
		}
		if path := next(t, asked); path != "/" {
			t.Errorf("%s asks for %q", host, path)
		}
		if path, _, _ := strings.Cut(next(t, copied), "?"); path != "/" {
			t.Errorf("%s mirrors to %q", host, path)
		}
		if got := s.ask(host, "/page", with("Port", port)); got.Status != 401 {
			t.Errorf("%s without the cookie: %d %q", host, got.Status, got.Body)
		}
		next(t, asked)
		for _, path := range squatted {
			if got := s.ask(host, path, nil); got.Status != 200 || got.Body != "pod "+path {
				t.Errorf("%s%s: %d %q", host, path, got.Status, got.Body)
			}
		}
		for _, name := range []string{"_external-auth-Lw-Prefix", "_mirror-uid"} {
			if got := s.raw("GET " + name + " HTTP/1.1\r\nHost: " + host + "\r\n\r\n"); !strings.HasPrefix(got, "HTTP/1.1 400 ") {
				t.Errorf("a request for %s: %q", name, got)
			}
		}
	}
}

// next returns the next value, which must exist.
func next[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case what := <-from:
		return what
	case <-time.After(nginxtest.Patience):
		t.Fatal("no value arrived")
		panic("not reached")
	}
}

// raw returns the first line of nginx's response to the given bytes.
func (s *site) raw(request string) string {
	s.Helper()
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.HTTP))
	if err != nil {
		s.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		s.Fatal(err)
	}
	answer := make([]byte, 200)
	n, err := conn.Read(answer)
	if err != nil {
		s.Fatal(err)
	}
	line, _, _ := strings.Cut(string(answer[:n]), "\r\n")
	return line
}
