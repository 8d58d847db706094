package render_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/render"
)

// The http block sets request headers for the locations that need no others. Services get the same
// requests as if each location set all of them, as all do with an http-snippet.
func TestRequestHeadersAreTheSameIfShared(t *testing.T) {
	t.Parallel()
	reports := make(map[string]map[string]string)
	for _, snippet := range []string{"", "# no directive"} {
		reports[snippet] = reportedHeaders(t, snippet)
	}
	shared, own := reports[""], reports["# no directive"]
	for _, host := range slices.Sorted(maps.Keys(own)) {
		if shared[host] != own[host] {
			t.Errorf("%s: with shared headers:\n%s\nwith its own:\n%s", host, shared[host], own[host])
		}
	}
	if distinct := len(slices.Compact(slices.Sorted(maps.Values(own)))); distinct < len(own)-1 {
		t.Errorf("%d of %d hosts have requests of their own, want all but one", distinct, len(own))
	}
}

// reportedHeaders returns the headers that services receive, by the host that the client requests.
func reportedHeaders(t *testing.T, httpSnippet string) map[string]string {
	in, program := here(t, map[string]string{"proxy-add-original-uri-header": "true"})
	in.Options.Config.HTTPSnippet = httpSnippet
	endpoint := pod(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s host=%s\n", r.Proto, r.RequestURI, r.Host)
		r.Header.Write(w)
	})
	auth := pod(t, func(w http.ResponseWriter, r *http.Request) { w.Header().Set("X-User", "ali") })
	m := hosts(in, endpoint, map[string]func(*model.Location){
		"own-host.example":   func(l *model.Location) { l.UpstreamVhost = "own.example" },
		"connection.example": func(l *model.Location) { l.Connection = annotations.Connection{Enabled: true, Header: "close"} },
		"timeouts.example":   func(l *model.Location) { l.Proxy.ReadTimeout = 7 },
		"snippet.example":    func(l *model.Location) { l.ConfigurationSnippet = "proxy_set_header X-Own snippet;" },
		"prefix.example": func(l *model.Location) {
			l.Rewrite.Target, l.XForwardedPrefix = "/rewritten", "/prefix"
		},
		"auth.example": func(l *model.Location) {
			l.ExternalAuth = annotations.ExternalAuth{URL: "http://" + auth.HostPort() + "/", Host: "auth.example", ResponseHeaders: []string{"X-User"}}
		},
		"password.example": func(l *model.Location) {
			l.BasicDigestAuth = annotations.BasicDigestAuth{Type: "basic", Realm: "all", File: in.Options.Path("/etc/nginx/passwd"), Secured: true}
		},
		"unavailable.example":    func(l *model.Location) { l.DefaultBackendUpstreamName = l.Backend },
		"server-snippet.example": nil,
	})
	put(t, in, "/etc/nginx/passwd", []byte("ali:{PLAIN}sesame\n"))
	for _, server := range m.Servers {
		if server.Hostname == "server-snippet.example" {
			server.ServerSnippet = "location /of-the-snippet { proxy_pass http://" + endpoint.HostPort() + "; }"
		}
	}
	s := serve(t, m, in, program)
	reports := make(map[string]string)
	for _, server := range m.Servers[1:] { // the first serves unknown hosts
		for _, path := range []string{"/", "/of-the-snippet"} {
			got := s.ask(server.Hostname, path, func(r *http.Request) {
				r.SetBasicAuth("ali", "sesame")
				r.Header.Set("X-Request-ID", "0123456789abcdef0123456789abcdef")
				r.Header.Set("Keep-Alive", "timeout=5")
				r.Header.Set("X-Forwarded-For", "203.0.113.9")
			})
			if got.Status != http.StatusOK {
				t.Fatalf("%s%s: %d %s", server.Hostname, path, got.Status, got.Body)
			}
			reports[server.Hostname] += strings.NewReplacer(
				server.Hostname, "HOST", fmt.Sprint(in.Options.Ports.HTTP), "PORT", endpoint.HostPort(), "POD").Replace(got.Body)
		}
	}
	return reports
}

func TestWhichLocationsShareRequestHeaders(t *testing.T) {
	in := input()
	wishes := map[string]func(*model.Location){
		"timeouts.example": func(l *model.Location) { l.Proxy.ReadTimeout = 7 },
		"vhost.example":    func(l *model.Location) { l.UpstreamVhost = "own.example" },
		"grpc.example":     func(l *model.Location) { l.BackendProtocol = "GRPC" },
		"snippet.example":  func(l *model.Location) { l.ConfigurationSnippet = "proxy_set_header X-Own snippet;" },
	}
	sharing := func(change func(*render.Input)) []string {
		with := in
		change(&with)
		text, err := render.Render(hosts(with, model.Endpoint{Address: "127.0.0.1", Port: "1"}, wishes), with)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, l := range locations(t, string(text)) {
			if len(l.own["proxy_pass"]) > 0 && len(l.own["proxy_set_header"]) == 0 {
				found = append(found, strings.Join(l.around[0]["server_name"], ""))
			}
		}
		slices.Sort(found)
		return found
	}
	if got, want := sharing(func(*render.Input) {}), []string{`"known.example"`, `"timeouts.example"`, "_"}; !slices.Equal(got, want) {
		t.Errorf("these servers' locations share request headers: %q, want %q", got, want)
	}
	for name, set := range map[string]func(*render.Input){
		"http-snippet":     func(in *render.Input) { in.Options.Config.HTTPSnippet = "# any" },
		"server-snippet":   func(in *render.Input) { in.Options.Config.ServerSnippet = "# any" },
		"location-snippet": func(in *render.Input) { in.Options.Config.LocationSnippet = "# any" },
	} {
		if got := sharing(set); len(got) > 0 {
			t.Errorf("with a %s, locations of these servers share request headers: %q", name, got)
		}
	}
}
