package render_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/controller/render"
)

// The response of the authentication service decides whether a request is allowed. It must not be
// replaced by an error page, whose backend can answer 200, nor must nginx's own response if the
// service cannot be reached.
func TestErrorPagesDoNotReplaceTheAnswerOfExternalAuth(t *testing.T) {
	t.Parallel()
	for name, mode := range map[string]struct {
		config  map[string]string
		dynamic bool
		snippet string // server-snippet
	}{
		"of the ConfigMap":                 {map[string]string{"custom-http-errors": "401,403,404,500,502,503"}, true, ""},
		"of the ConfigMap, in reload mode": {map[string]string{"custom-http-errors": "401,403,404,500,502,503"}, false, ""},
		"of a snippet":                     {nil, true, "error_page 401 403 404 500 502 503 =200 /page;\nproxy_intercept_errors on;"},
	} {
		t.Run(name, func(t *testing.T) {
			config := map[string]string{"use-http2": "false"} // auth-keepalive does not work with HTTP/2
			for key, value := range mode.config {
				config[key] = value
			}
			in, program := here(t, config)
			in.Options.DynamicConfiguration = mode.dynamic
			refuses(t, in, program, mode.snippet)
		})
	}
}

// refuses checks hosts whose authentication service admits nobody.
func refuses(t *testing.T, in render.Input, program *nginx.Nginx, snippet string) {
	service := pod(t, func(w http.ResponseWriter, r *http.Request) {
		var status int
		fmt.Sscanf(r.URL.Path, "/%d", &status)
		w.WriteHeader(status)
	})
	page := pod(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "page of "+r.Header.Get("X-Code")) })

	urls := map[string]string{"absent": "http://127.0.0.1:1/"}
	for _, status := range []string{"401", "403", "404", "500", "502", "503"} {
		urls[status] = "http://" + service.HostPort() + "/" + status
	}
	wishes := make(map[string]func(*model.Location))
	wants := make(map[string]string)
	for name, url := range urls {
		auth := annotations.ExternalAuth{URL: url, Host: "auth.example"}
		kept := auth
		kept.KeepaliveConnections, kept.KeepaliveRequests, kept.KeepaliveTimeout = 2, 100, 10
		wishes["asked-"+name] = func(l *model.Location) { l.ExternalAuth = auth }
		wishes["kept-"+name] = func(l *model.Location) { l.ExternalAuth = kept }
		// Any status other than 2xx, 401 and 403 is an error of the service.
		want := "page of 500"
		if name == "401" || name == "403" {
			want = "page of " + name
		}
		wants["asked-"+name], wants["kept-"+name] = want, want
	}
	m := hosts(in, pod(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "protected") }), wishes)
	m.Backends.Find(model.DefaultBackendName).Endpoints = []model.Endpoint{page}
	for _, server := range m.Servers {
		server.ServerSnippet = snippet
	}
	s := serve(t, m, in, program)
	for host, want := range wants {
		if got := s.ask(host, "/", nil); got.Body == "protected" || snippet == "" && got.Body != want {
			t.Errorf("%s: %d %q, want %q", host, got.Status, got.Body, want)
		}
	}
}
