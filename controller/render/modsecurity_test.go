package render_test

import (
	"fmt"
	"net/http"
	"os"
	"testing"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
)

// With enable-modsecurity, the firewall checks each request once, in its location. It does not
// check the subrequests that nginx sends for it, nor the controller's own servers.
func TestModSecurityOnNginx(t *testing.T) {
	t.Parallel()
	in, program := here(t, map[string]string{"enable-modsecurity": "true", "custom-http-errors": "404"})
	if in.Optional["http_modsecurity"] == nil {
		t.Skip("needs nginx's module ModSecurity: apt-get install libnginx-mod-http-modsecurity")
	}
	refusing := func(file, what string, id int) {
		for _, folder := range []string{"/etc/nginx/modsecurity", "/etc/nginx/owasp-modsecurity-crs"} {
			if err := os.MkdirAll(in.Options.Path(folder), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		put(t, in, file, fmt.Appendf(nil, "SecRuleEngine On\nSecRule REQUEST_HEADERS:X-Attack \"@streq %s\" \"id:%d,phase:1,deny,status:403\"\n", what, id))
	}
	refusing("/etc/nginx/modsecurity/modsecurity.conf", "common", 1)
	refusing("/etc/nginx/owasp-modsecurity-crs/nginx-modsecurity.conf", "owasp", 2)

	heard := make(chan string, 10)
	hears := func(who string) model.Endpoint {
		return pod(t, func(http.ResponseWriter, *http.Request) { heard <- who })
	}
	off := annotations.ModSecurity{EnableSet: true}
	m := hosts(in, pod(t, told), map[string]func(*model.Location){
		"off.example": func(l *model.Location) { l.ModSecurity = off },
		"own.example": func(l *model.Location) {
			l.ModSecurity = annotations.ModSecurity{EnableSet: true, Enable: true, OWASPRules: true, Snippet: `SecRule REQUEST_HEADERS:X-Attack "@streq own" "id:3,phase:1,deny,status:403"`}
		},
		"asked.example": func(l *model.Location) {
			l.ModSecurity, l.ExternalAuth = off, annotations.ExternalAuth{URL: "http://" + hears("auth").HostPort() + "/", Host: "auth"}
		},
		"mirrored.example": func(l *model.Location) {
			l.ModSecurity, l.Mirror = off, annotations.Mirror{Source: "_mirror-uid", RequestBody: "on", Target: "http://" + hears("mirror").HostPort() + "/", Host: "copy"}
		},
	})
	m.Backends.Find(model.DefaultBackendName).Endpoints = []model.Endpoint{hears("error")}
	s := serve(t, m, in, program)
	for _, test := range []struct {
		host, path, attack string
		status             int
		hears              string
	}{
		{"known.example", "/", "common", 403, ""},
		{"known.example", "/", "owasp", 200, ""},
		{"off.example", "/", "common", 200, ""},
		{"own.example", "/", "common", 403, ""},
		{"own.example", "/", "own", 403, ""},
		{"own.example", "/", "owasp", 403, ""},
		{"asked.example", "/", "common", 200, "auth"},
		{"mirrored.example", "/", "common", 200, "mirror"},
		{"off.example", "/missing", "common", 200, "error"},
	} {
		if got := s.ask(test.host, test.path, with("X-Attack", test.attack)); got.Status != test.status {
			t.Errorf("%s%s, an attack that %s rules detect: %d, want %d: %s", test.host, test.path, test.attack, got.Status, test.status, got.Body)
		}
		if test.hears != "" {
			if got := next(t, heard); got != test.hears {
				t.Errorf("%s reaches %s, want %s", test.host, got, test.hears)
			}
		}
	}
	for _, url := range []string{fmt.Sprintf("http://127.0.0.1:%d/nginx_status", s.Status), fmt.Sprintf("http://127.0.0.1:%d/healthz", s.HTTP)} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("X-Attack", "common")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != 200 {
			t.Errorf("%s: %s", url, response.Status)
		}
	}
}
