package render_test

import (
	"io"
	"net"
	"net/http"
	"net/http/fcgi"
	"strings"
	"testing"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
)

// A header whose name is too long for FastCGI programs is left out, and the others reach the
// program, with both ways of asking the authentication service.
func TestLongHeadersOfAuthenticationAreLeftOut(t *testing.T) {
	t.Parallel()
	in, program := here(t, map[string]string{"use-http2": "false"})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go fcgi.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.Header.Get("X-User")) }))
	long := strings.Repeat("x", model.LongestHeader+1)
	service := pod(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-User", "ali")
		w.Header().Set(long, "text")
	})
	asks := func(connections int) func(*model.Location) {
		return func(l *model.Location) {
			l.Backend, l.BackendProtocol = "demo-php-9000", "FCGI"
			l.ExternalAuth = annotations.ExternalAuth{
				URL: "http://" + service.HostPort() + "/", Host: "auth", ResponseHeaders: []string{long, "X-User"},
				KeepaliveConnections: connections, KeepaliveRequests: 10, KeepaliveTimeout: 10,
			}
		}
	}
	m := hosts(in, pod(t, told), map[string]func(*model.Location){"asked.example": asks(0), "kept.example": asks(1)})
	addBackends(m, &model.Backend{Name: "demo-php-9000", Endpoints: []model.Endpoint{endpointOf(listener)}})
	s := serve(t, m, in, program)
	for _, host := range []string{"asked.example", "kept.example"} {
		if got := s.ask(host, "/", nil); got.Status != 200 || got.Body != "ali" {
			t.Errorf("%s: %d %q, want 200 and the user", host, got.Status, got.Body)
		}
	}
}
