package render_test

import (
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/render"
)

// exchange is a request and the expected parts of its response.
type exchange struct {
	host, path string
	change     func(*http.Request)
	status     int
	header     map[string]string // "-" means that it is absent; {http} is nginx's port
	body       []string          // "!x" means that x is absent
}

func (e exchange) check(t *testing.T, s *site) {
	t.Helper()
	here := *s
	here.T = t
	got := here.ask(e.host, e.path, e.change)
	if got.Status != e.status {
		t.Errorf("status %d, want %d: %s", got.Status, e.status, got.Body)
	}
	for header, want := range e.header {
		want = strings.ReplaceAll(strings.TrimSuffix(want, "-"), "{http}", fmt.Sprint(s.HTTP))
		if values := got.Header.Values(header); strings.Join(values, "|") != want {
			t.Errorf("%s: %q, want %q", header, values, want)
		}
	}
	for _, want := range e.body {
		if not, without := strings.CutPrefix(want, "!"); without == strings.Contains(got.Body, strings.TrimPrefix(want, "!")) {
			t.Errorf("body %q, want %q (not: %q)", got.Body, want, not)
		}
	}
}

// featured returns the hosts of TestFeaturesOfLocations.
func featured(in render.Input) map[string]func(*model.Location) {
	return map[string]func(*model.Location){
		"moved.example": func(l *model.Location) {
			l.Redirect = annotations.Redirect{URL: "https://new.example/a?b=c", Code: 308}
		},
		"movedwith.example": func(l *model.Location) {
			l.Redirect = annotations.Redirect{URL: "https://new.example/", Code: 301}
			l.CorsConfig = annotations.CorsConfig{CorsEnabled: true, CorsAllowOrigin: []string{"https://a.example"}, CorsAllowMethods: "GET", CorsAllowHeaders: "X-A", CorsMaxAge: 1}
			l.CustomHeaders.Headers = map[string]string{"X-Mine": "$host"}
			l.ConfigurationSnippet = "if ($arg_stay) { return 204; }\nadd_header X-Snippet yes always;"
		},
		"denied.example": func(l *model.Location) { l.Denied = new("no such\nsecret } {") },
		"rewritten.example": func(l *model.Location) {
			l.Path, l.Rewrite.Target, l.XForwardedPrefix = "/api(/|$)(.*)", "/v1/$2", "/api"
		},
		"root.example":  func(l *model.Location) { l.Rewrite.AppRoot = "/app" },
		"vhost.example": func(l *model.Location) { l.UpstreamVhost = "inner.example" },
		"close.example": func(l *model.Location) { l.Connection = annotations.Connection{Enabled: true, Header: "close"} },
		"cors.example": func(l *model.Location) {
			l.CorsConfig = annotations.CorsConfig{CorsEnabled: true, CorsAllowOrigin: []string{"https://*.a.example", "http://b.example:8080"},
				CorsAllowMethods: "GET, PUT", CorsAllowHeaders: "X-A, X-B", CorsAllowCredentials: true, CorsExposeHeaders: "X-C", CorsMaxAge: 60}
		},
		"nobody.example": func(l *model.Location) {
			l.CorsConfig = annotations.CorsConfig{CorsEnabled: true, CorsAllowMethods: "GET", CorsAllowHeaders: "X-A", CorsMaxAge: 1}
		},
		"anyone.example": func(l *model.Location) {
			l.CorsConfig = annotations.CorsConfig{CorsEnabled: true, CorsAllowOrigin: []string{"*"}, CorsAllowMethods: "GET", CorsAllowHeaders: "X-A", CorsMaxAge: 1}
		},
		"inside.example":  func(l *model.Location) { l.Allowlist.CIDR = []string{"10.0.0.0/8"} },
		"outside.example": func(l *model.Location) { l.Denylist.CIDR = []string{"127.0.0.1"} },
		"limited.example": func(l *model.Location) {
			l.RateLimit = annotations.RateLimit{ID: "bGlt", Name: "demo_web", RPM: annotations.Zone{Name: "z_rpm", Limit: 1, Burst: 2, SharedSize: 1}}
		},
		"exempt.example": func(l *model.Location) {
			l.RateLimit = annotations.RateLimit{ID: "ZXhl", Name: "demo_other", Allowlist: []string{"127.0.0.0/8"}, RPM: annotations.Zone{Name: "y_rpm", Limit: 1, SharedSize: 1}}
		},
		"basic.example": func(l *model.Location) {
			l.BasicDigestAuth = annotations.BasicDigestAuth{Type: "basic", Secured: true, Realm: "the realm", File: in.Options.Path("/etc/nginx/passwd")}
		},
		"digest.example": func(l *model.Location) {
			l.BasicDigestAuth = annotations.BasicDigestAuth{Type: "digest", Secured: true, File: "/no"}
		},
		"satisfied.example": func(l *model.Location) {
			l.Satisfy, l.Allowlist.CIDR = "any", []string{"127.0.0.0/8"}
			l.BasicDigestAuth = annotations.BasicDigestAuth{Type: "basic", Secured: true, Realm: "r", File: in.Options.Path("/etc/nginx/passwd")}
		},
		"headers.example": func(l *model.Location) {
			l.CustomHeaders.Headers = map[string]string{"X-Pod": "custom", "X-Mine": "$host"}
		},
		"errors.example": func(l *model.Location) {
			l.CustomHTTPErrors, l.DefaultBackendUpstreamName = []int{404}, "custom-default-backend-demo-errors"
		},
		"plainerrors.example": func(l *model.Location) {
			l.CustomHTTPErrors, l.DisableProxyInterceptErrors = []int{404}, true
		},
		"snippet.example": func(l *model.Location) { l.ConfigurationSnippet = "add_header X-Snippet yes always;" },
		"grpc.example":    func(l *model.Location) { l.Backend, l.BackendProtocol = "demo-grpc-80", "grpc" },
	}
}

var featureExchanges = map[string]exchange{
	"plain": {"known.example", "/x?y", with("Proxy", "evil"), 200,
		map[string]string{"X-Pod": "own", "X-All": "of known.example", "X-Hidden": "-"},
		[]string{"GET /x?y HTTP/1.1 host=known.example", "X-To-Pods: known.example", "X-Original-Uri: /x?y", "!Proxy"}},
	"unknown host":  {"else.example", "/", nil, 200, nil, nil},
	"blocked agent": {"known.example", "/", with("User-Agent", "a badbot 1"), 403, nil, nil},
	"blocked agent whose name is a keyword of maps": {"known.example", "/", with("User-Agent", "default"), 403, nil, nil},
	"redirect": {"moved.example", "/x", nil, 308, map[string]string{"Location": "https://new.example/a?b=c"}, nil},
	"redirect with more": {"movedwith.example", "/x", with("Origin", "https://a.example"), 301, map[string]string{
		"Location": "https://new.example/", "Access-Control-Allow-Origin": "https://a.example", "X-Mine": "movedwith.example", "X-Snippet": "yes", "X-All": "of movedwith.example"}, nil},
	"redirect, asked first":            {"movedwith.example", "/x", func(r *http.Request) { r.Method = http.MethodOptions; r.Header.Set("Origin", "https://a.example") }, 204, map[string]string{"Access-Control-Allow-Methods": "GET"}, nil},
	"redirect that a snippet prevents": {"movedwith.example", "/x?stay=1", nil, 204, nil, nil},
	"redirect from www":                {"www.known.example", "/x", nil, 308, map[string]string{"Location": "http://known.example:{http}/x"}, nil},
	"denied":                           {"denied.example", "/", nil, 503, nil, []string{"!host=denied"}},
	"rewrite":                          {"rewritten.example", "/api/a?b=c", nil, 200, nil, []string{"GET /v1/a?b=c ", "X-Forwarded-Prefix: /api"}},
	"app-root":                         {"root.example", "/", nil, 302, map[string]string{"Location": "http://root.example/app"}, nil},
	"below app-root":                   {"root.example", "/a", nil, 200, nil, []string{"GET /a "}},
	"upstream-vhost":                   {"vhost.example", "/", nil, 200, nil, []string{"host=inner.example"}},
	"connection":                       {"close.example", "/", nil, 200, nil, []string{"Connection: close"}},
	"snippet":                          {"snippet.example", "/", nil, 200, map[string]string{"X-Snippet": "yes", "X-All": "of snippet.example"}, nil},
	"error of the default":             {"known.example", "/teapot", nil, 404, nil, []string{"!teapot"}},

	"CORS": {"cors.example", "/", with("Origin", "https://x.a.example"), 200, map[string]string{
		"Access-Control-Allow-Origin": "https://x.a.example", "Access-Control-Allow-Credentials": "true",
		"Access-Control-Allow-Methods": "GET, PUT", "Access-Control-Expose-Headers": "X-C", "Access-Control-Max-Age": "60"}, nil},
	"CORS, an error":       {"cors.example", "/missing", with("Origin", "http://b.example:8080"), 404, map[string]string{"Access-Control-Allow-Origin": "http://b.example:8080"}, nil},
	"CORS, another origin": {"cors.example", "/", with("Origin", "https://evil.example"), 200, map[string]string{"Access-Control-Allow-Origin": "-", "Access-Control-Allow-Methods": "-"}, nil},
	"CORS, asked first": {"cors.example", "/", func(r *http.Request) { r.Method = http.MethodOptions; r.Header.Set("Origin", "https://x.a.example") }, 204, map[string]string{
		"Access-Control-Allow-Origin": "https://x.a.example", "Access-Control-Max-Age": "60", "Access-Control-Allow-Headers": "X-A, X-B"}, nil},
	"CORS, asked by another":             {"cors.example", "/", func(r *http.Request) { r.Method = http.MethodOptions; r.Header.Set("Origin", "https://evil.example") }, 200, map[string]string{"Access-Control-Max-Age": "-"}, []string{"OPTIONS / "}},
	"CORS, an origin that ends like one": {"cors.example", "/", with("Origin", "https://evil.http://b.example:8080"), 200, map[string]string{"Access-Control-Allow-Origin": "-"}, nil},
	"CORS for nobody":                    {"nobody.example", "/", with("Origin", "https://any.example"), 200, map[string]string{"Access-Control-Allow-Origin": "-", "Access-Control-Allow-Methods": "-"}, nil},
	"CORS for nobody, asked first":       {"nobody.example", "/", func(r *http.Request) { r.Method = http.MethodOptions; r.Header.Set("Origin", "https://any.example") }, 200, map[string]string{"Access-Control-Allow-Origin": "-"}, []string{"OPTIONS / "}},
	"CORS for all":                       {"anyone.example", "/", with("Origin", "https://any.example"), 200, map[string]string{"Access-Control-Allow-Origin": "*"}, nil},

	"allow list":          {"inside.example", "/", nil, 403, nil, nil},
	"deny list":           {"outside.example", "/", nil, 403, nil, nil},
	"no password":         {"basic.example", "/", nil, 401, map[string]string{"Www-Authenticate": `Basic realm="the realm"`}, nil},
	"wrong password":      {"basic.example", "/", func(r *http.Request) { r.SetBasicAuth("ali", "no") }, 401, nil, nil},
	"password":            {"basic.example", "/", func(r *http.Request) { r.SetBasicAuth("ali", "open sesame") }, 200, nil, []string{"!Authorization"}},
	"digest":              {"digest.example", "/", nil, 503, nil, nil},
	"satisfied by either": {"satisfied.example", "/", nil, 200, nil, nil},

	"headers":                    {"headers.example", "/", nil, 200, map[string]string{"X-Pod": "custom", "X-Mine": "headers.example", "X-All": "of headers.example"}, nil},
	"custom error":               {"errors.example", "/missing", nil, 404, nil, []string{"sorry: GET / ", "X-Code: 404", "X-Original-Uri: /missing"}},
	"no custom error":            {"errors.example", "/", nil, 200, nil, []string{"!sorry"}},
	"custom errors not taken up": {"plainerrors.example", "/missing", nil, 404, nil, []string{"GET /missing "}},
	"gRPC":                       {"grpc.example", "/a.B/C", with("method", "POST"), 200, nil, []string{"POST /a.B/C HTTP/2.0 host=grpc.example", "X-To-Pods: grpc.example"}},
}

func TestFeaturesOfLocations(t *testing.T) {
	t.Parallel()
	in, program := here(t, map[string]string{
		"add-headers": "demo/add", "hide-headers": "X-Hidden", "proxy-add-original-uri-header": "true",
		"block-user-agents": "~*BadBot,default", "custom-http-errors": "418",
	})
	m := hosts(in, pod(t, told), featured(in))
	addBackends(m, &model.Backend{Name: "demo-grpc-80", Endpoints: []model.Endpoint{pod(t, told)}}, &model.Backend{Name: "custom-default-backend-demo-errors", Endpoints: []model.Endpoint{pod(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, "sorry: ")
		told(w, r)
	})}})
	m.AddHeaders = map[string]string{"X-All": "of $host"}
	m.ProxySetHeaders = map[string]string{"X-To-Pods": "$host"}
	m.RedirectServers = []model.Redirect{{From: "www.known.example", To: "known.example"}}
	sum := sha1.Sum([]byte("open sesame")) //nolint:gosec // nginx's {SHA}
	put(t, in, "/etc/nginx/passwd", []byte("ali:{SHA}"+base64.StdEncoding.EncodeToString(sum[:])+"\n"))
	s := serve(t, m, in, program)

	for name, e := range featureExchanges {
		t.Run(name, func(t *testing.T) { e.check(t, s) })
	}

	// One request and a burst of two are served, then one request per minute.
	var statuses []int
	for range 4 {
		statuses = append(statuses, s.ask("limited.example", "/", nil).Status)
	}
	if fmt.Sprint(statuses) != "[200 200 200 503]" {
		t.Errorf("limited: %v", statuses)
	}
	for range 4 {
		if got := s.ask("exempt.example", "/", nil); got.Status != 200 {
			t.Errorf("exempt from the limit: %d", got.Status)
		}
	}
}
