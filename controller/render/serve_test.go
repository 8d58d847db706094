package render_test

import (
	"bufio"
	"crypto/sha1"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/fcgi"
	"strings"
	"sync"
	"testing"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
)

// told is a pod whose response describes the request that it got: the headers that a test asks for,
// one per line, the method, the path and the protocol.
func told(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Pod", "own")
	w.Header().Set("X-Hidden", "secret")
	w.Header().Set("Access-Control-Allow-Origin", "pod")
	switch r.URL.Path {
	case "/missing":
		w.WriteHeader(http.StatusNotFound)
	case "/teapot":
		w.WriteHeader(http.StatusTeapot)
	}
	fmt.Fprintf(w, "%s %s %s host=%s\n", r.Method, r.RequestURI, r.Proto, r.Host)
	for _, name := range []string{"Connection", "X-User", "X-Forwarded-Prefix", "X-To-Pods", "Authorization", "X-Code", "X-Service-Name", "X-Original-Uri", "Proxy"} {
		for _, value := range r.Header.Values(name) {
			fmt.Fprintf(w, "%s: %s\n", name, value)
		}
	}
}

func with(name, value string) func(*http.Request) {
	return func(r *http.Request) {
		r.Header.Set(name, value)
		if name == "method" {
			r.Method = value
			r.Header.Del(name)
		}
	}
}

func TestFeaturesOfLocations(t *testing.T) {
	in, program := here(t, map[string]string{
		"add-headers": "demo/add", "hide-headers": "X-Hidden", "proxy-add-original-uri-header": "true",
		"block-user-agents": "~*BadBot", "custom-http-errors": "418",
	})
	m := hosts(in, pod(t, told), map[string]func(*model.Location){
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
	})
	m.Backends = append(m.Backends, &model.Backend{Name: "demo-grpc-80", Endpoints: []model.Endpoint{pod(t, told)}}, &model.Backend{Name: "custom-default-backend-demo-errors", Endpoints: []model.Endpoint{pod(t, func(w http.ResponseWriter, r *http.Request) {
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

	for name, test := range map[string]struct {
		host, path string
		change     func(*http.Request)
		status     int
		header     map[string]string // "-" means that it is absent
		body       []string          // "!x" means that x is absent
	}{
		"plain": {"known.example", "/x?y", with("Proxy", "evil"), 200,
			map[string]string{"X-Pod": "own", "X-All": "of known.example", "X-Hidden": "-"},
			[]string{"GET /x?y HTTP/1.1 host=known.example", "X-To-Pods: known.example", "X-Original-Uri: /x?y", "!Proxy"}},
		"unknown host":  {"else.example", "/", nil, 200, nil, nil},
		"blocked agent": {"known.example", "/", with("User-Agent", "a badbot 1"), 403, nil, nil},
		"redirect":      {"moved.example", "/x", nil, 308, map[string]string{"Location": "https://new.example/a?b=c"}, nil},
		"redirect with more": {"movedwith.example", "/x", with("Origin", "https://a.example"), 301, map[string]string{
			"Location": "https://new.example/", "Access-Control-Allow-Origin": "https://a.example", "X-Mine": "movedwith.example", "X-Snippet": "yes", "X-All": "of movedwith.example"}, nil},
		"redirect, asked first":            {"movedwith.example", "/x", func(r *http.Request) { r.Method = http.MethodOptions; r.Header.Set("Origin", "https://a.example") }, 204, map[string]string{"Access-Control-Allow-Methods": "GET"}, nil},
		"redirect that a snippet prevents": {"movedwith.example", "/x?stay=1", nil, 204, nil, nil},
		"redirect from www":                {"www.known.example", "/x", nil, 308, map[string]string{"Location": fmt.Sprintf("http://known.example:%d/x", s.HTTP)}, nil},
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
			"Access-Control-Allow-Methods": "GET, PUT", "Access-Control-Expose-Headers": "X-C", "Access-Control-Max-Age": "-"}, nil},
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
	} {
		t.Run(name, func(t *testing.T) {
			here := *s
			here.T = t
			got := here.ask(test.host, test.path, test.change)
			if got.status != test.status {
				t.Errorf("status %d, want %d: %s", got.status, test.status, got.body)
			}
			for header, want := range test.header {
				if values := got.header.Values(header); strings.Join(values, "|") != strings.TrimSuffix(want, "-") {
					t.Errorf("%s: %q, want %q", header, values, want)
				}
			}
			for _, want := range test.body {
				if not, without := strings.CutPrefix(want, "!"); without == strings.Contains(got.body, strings.TrimPrefix(want, "!")) {
					t.Errorf("body %q, want %q (not: %q)", got.body, want, not)
				}
			}
		})
	}

	// One request and a burst of two are served. After that, one request per minute is.
	var statuses []int
	for range 4 {
		statuses = append(statuses, s.ask("limited.example", "/", nil).status)
	}
	if fmt.Sprint(statuses) != "[200 200 200 503]" {
		t.Errorf("limited: %v", statuses)
	}
	for range 4 {
		if got := s.ask("exempt.example", "/", nil); got.status != 200 {
			t.Errorf("exempt from the limit: %d", got.status)
		}
	}
}

// nginx sends each request to the external authentication service, whose response decides.
func TestExternalAuth(t *testing.T) {
	var mu sync.Mutex
	asked := make(map[string]int)
	guard := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.Header.Get("X-Original-Url")]++
		mu.Unlock()
		if r.Header.Get("X-Kind") != "ingress" && r.URL.Path == "/check" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		if strings.Contains(r.Header.Get("X-Original-Url"), "login") { // nginx does not cache responses that set a cookie
			w.Header().Set("Set-Cookie", "seen=1")
		}
		if r.Header.Get("Cookie") != "user=ali" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("X-User", "ali via "+r.Method)
	}
	endpoint := pod(t, guard)
	for name, config := range map[string]map[string]string{"with HTTP/2": nil, "without HTTP/2": {"use-http2": "false"}} {
		t.Run(name, func(t *testing.T) {
			in, program := here(t, config)
			in.Options.Config.GlobalAuthURL = "http://" + endpoint.HostPort() + "/global"
			in.Options.Config.NoAuthLocations = []string{"/.well-known/acme-challenge"}
			own := annotations.ExternalAuth{
				URL: "http://" + endpoint.HostPort() + "/check", Host: "auth.example", ResponseHeaders: []string{"X-User"},
				ProxySetHeaders: map[string]string{"X-Kind": "ingress"},
			}
			m := hosts(in, pod(t, told), map[string]func(*model.Location){
				"asked.example": func(l *model.Location) { l.ExternalAuth = own },
				"posted.example": func(l *model.Location) {
					l.ExternalAuth = own
					l.ExternalAuth.Method = "POST"
				},
				"kept.example": func(l *model.Location) {
					l.ExternalAuth = own
					l.ExternalAuth.KeepaliveConnections, l.ExternalAuth.KeepaliveRequests, l.ExternalAuth.KeepaliveTimeout = 2, 100, 10
				},
				"cached.example": func(l *model.Location) {
					l.ExternalAuth = own
					l.ExternalAuth.AuthCacheKey, l.ExternalAuth.AuthCacheDuration = "$cookie_user", []string{"200 401 1m"}
				},
				"login.example": func(l *model.Location) {
					l.ExternalAuth = own
					l.ExternalAuth.SigninURL = "https://id.example/login?x=1"
				},
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
			s := serve(t, m, in, program)
			cookie := with("Cookie", "user=ali")

			for _, host := range []string{"asked.example", "kept.example", "cached.example", "login.example", "all.example"} {
				if got := s.ask(host, "/", cookie); got.status != 200 || host != "all.example" && !strings.Contains(got.body, "X-User: ali via GET") {
					t.Errorf("%s: %d %s", host, got.status, got.body)
				}
			}
			if got := s.ask("posted.example", "/", cookie); !strings.Contains(got.body, "X-User: ali via POST") {
				t.Errorf("auth-method POST: %s", got.body)
			}
			for _, host := range []string{"asked.example", "kept.example", "cached.example", "all.example"} {
				if got := s.ask(host, "/", nil); got.status != 401 {
					t.Errorf("%s without the cookie: %d", host, got.status)
				}
			}
			if got := s.ask("login.example", "/a?b=c&d", nil); got.status != 302 ||
				got.header.Get("Location") != "https://id.example/login?x=1&rd=http://login.example%2Fa%3Fb%3Dc%26d" || got.header.Get("Set-Cookie") != "seen=1" {
				t.Errorf("login: %d %v", got.status, got.header)
			}
			if got := s.ask("elsewhere.example", "/", cookie); got.status != 500 {
				t.Errorf("a service that does not exist: %d", got.status)
			}
			for _, path := range []string{"/.well-known/acme-challenge/x"} {
				if got := s.ask("all.example", path, nil); got.status != 200 {
					t.Errorf("%s needs no login: %d", path, got.status)
				}
			}
			if got := s.ask("optout.example", "/", nil); got.status != 200 {
				t.Errorf("enable-global-auth false: %d", got.status)
			}
			for range 3 {
				s.ask("cached.example", "/often", cookie)
			}
			mu.Lock()
			defer mu.Unlock()
			if n := asked["http://cached.example/often"]; n > 0 {
				t.Errorf("%d authentication requests although the response is cached for this user", n)
			}
		})
	}
}

func TestMirrorsAndFastCGI(t *testing.T) {
	in, program := here(t, nil)
	copies := make(chan string, 10)
	mirror := pod(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		copies <- fmt.Sprintf("%s %s host=%s %s", r.Method, r.RequestURI, r.Host, body)
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go fcgi.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s %s", r.Method, r.URL.Path, fcgi.ProcessEnv(r)["SCRIPT_FILENAME"])
	}))
	m := hosts(in, pod(t, told), map[string]func(*model.Location){
		"mirror.example": func(l *model.Location) {
			l.Mirror = annotations.Mirror{Source: "_mirror-uid", RequestBody: "on", Target: "http://" + mirror.HostPort() + "$request_uri", Host: "copy.example"}
		},
		"fcgi.example": func(l *model.Location) {
			l.Backend, l.BackendProtocol = "demo-php-9000", "FCGI"
			l.FastCGI = annotations.FastCGI{Index: "index.php", Params: map[string]string{"SCRIPT_FILENAME": "/srv$fastcgi_script_name"}}
		},
	})
	m.Backends = append(m.Backends, &model.Backend{Name: "demo-php-9000", Endpoints: []model.Endpoint{endpointOf(listener)}})
	s := serve(t, m, in, program)

	got := s.ask("mirror.example", "/a?b", func(r *http.Request) {
		r.Method, r.Body = http.MethodPut, io.NopCloser(strings.NewReader("content"))
	})
	if got.status != 200 {
		t.Errorf("got %d %s", got.status, got.body)
	}
	if copied := <-copies; copied != "PUT /a?b host=copy.example content" {
		t.Errorf("mirrored %q", copied)
	}
	if got := s.ask("fcgi.example", "/app/", nil); got.body != "GET /app/ /srv/app/index.php" {
		t.Errorf("FastCGI: %d %q", got.status, got.body)
	}
}

// nginx passes the client's address to FastCGI programs, as it does to pods with HTTP. What a
// client claims about itself does not reach them.
func TestFastCGIParametersComeFromNginx(t *testing.T) {
	in, program := here(t, map[string]string{"proxy-add-original-uri-header": "true"})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go fcgi.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "Host: %s\n", r.Host)
		r.Header.Write(w)
	}))
	auth := pod(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Login") != "" {
			w.Header().Set("X-User", "ali")
		}
	})
	sum := sha1.Sum([]byte("open sesame")) //nolint:gosec // nginx's {SHA}
	put(t, in, "/etc/nginx/passwd", []byte("ali:{SHA}"+base64.StdEncoding.EncodeToString(sum[:])+"\n"))
	fastCGI := func(change func(*model.Location)) func(*model.Location) {
		return func(l *model.Location) {
			l.Backend, l.BackendProtocol = "demo-php-9000", "FCGI"
			change(l)
		}
	}
	m := hosts(in, pod(t, told), map[string]func(*model.Location){
		"fcgi.example":     fastCGI(func(*model.Location) {}),
		"verified.example": fastCGI(func(*model.Location) {}),
		"asked.example": fastCGI(func(l *model.Location) {
			l.ExternalAuth = annotations.ExternalAuth{URL: "http://" + auth.HostPort() + "/", Host: "auth", ResponseHeaders: []string{"X-User"}}
		}),
		"kept.example": fastCGI(func(l *model.Location) {
			l.ExternalAuth = annotations.ExternalAuth{URL: "http://" + auth.HostPort() + "/", Host: "auth", ResponseHeaders: []string{"X-User"}, KeepaliveConnections: 1, KeepaliveRequests: 10, KeepaliveTimeout: 10}
		}),
		"basic.example": fastCGI(func(l *model.Location) {
			l.BasicDigestAuth = annotations.BasicDigestAuth{Type: "basic", Secured: true, Realm: "r", File: in.Options.Path("/etc/nginx/passwd")}
		}),
		"rewritten.example": fastCGI(func(l *model.Location) {
			l.Path, l.Rewrite.Target, l.XForwardedPrefix = "/api(/|$)(.*)", "/v1/$2", "/api"
		}),
		"vhost.example": fastCGI(func(l *model.Location) { l.UpstreamVhost = "inner.example" }),
	})
	for _, server := range m.Servers {
		if server.Hostname == "verified.example" {
			server.CertificateAuth = model.CertificateAuth{CAFileName: in.Options.Path(certificateFile), VerifyClient: "optional", ValidationDepth: 1}
		}
	}
	m.ProxySetHeaders = map[string]string{"X-To-Pods": "$host"}
	m.Backends = append(m.Backends, &model.Backend{Name: "demo-php-9000", Endpoints: []model.Endpoint{endpointOf(listener)}})
	s := serve(t, m, in, program)
	always := []string{"X-Real-Ip: 127.0.0.1", "X-Forwarded-For: 127.0.0.1", "X-Forwarded-Proto: http", "X-Scheme: http", "X-To-Pods: {host}", "!Proxy: lie"}
	for _, test := range []struct {
		host, path string
		has        []string
	}{
		{"fcgi.example", "/", append([]string{"Host: fcgi.example", "X-Original-Uri: /"}, always...)},
		{"verified.example", "/", append([]string{"!Ssl-Client-Verify: lie", "!Ssl-Client-Subject-Dn: lie", "!Ssl-Client-Issuer-Dn: lie", "!Ssl-Client-Cert: lie"}, always...)},
		{"asked.example", "/", append([]string{"X-User: ali"}, always...)},
		{"kept.example", "/", append([]string{"X-User: ali"}, always...)},
		{"basic.example", "/", append([]string{"!Authorization: Basic"}, always...)},
		{"rewritten.example", "/api/a", append([]string{"X-Forwarded-Prefix: /api"}, always...)},
		{"vhost.example", "/", append([]string{"Host: inner.example"}, always...)},
	} {
		got := s.ask(test.host, test.path, func(r *http.Request) {
			r.SetBasicAuth("ali", "open sesame")
			for _, name := range []string{"X-Real-Ip", "X-Forwarded-For", "X-Forwarded-Proto", "X-Scheme", "X-To-Pods", "X-Original-Uri", "X-User", "X-Login", "X-Forwarded-Prefix", "Proxy",
				"Ssl-Client-Verify", "Ssl-Client-Subject-Dn", "Ssl-Client-Issuer-Dn", "Ssl-Client-Cert"} {
				r.Header.Set(name, "lie")
			}
		})
		if got.status != 200 {
			t.Errorf("%s: %d", test.host, got.status)
		}
		for _, line := range test.has {
			line, no := strings.CutPrefix(strings.ReplaceAll(line, "{host}", test.host), "!")
			if strings.Contains("\n"+strings.ReplaceAll(got.body, "\r", ""), "\n"+line) == no {
				t.Errorf("%s: %s (unwanted: %t) in\n%s", test.host, line, no, got.body)
			}
		}
	}
}

func TestWebSocketsPass(t *testing.T) {
	in, program := here(t, nil)
	m := hosts(in, pod(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "echo" {
			return
		}
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n")
		io.Copy(conn, buffered)
	}), nil)
	s := serve(t, m, in, program)
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.HTTP))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost: known.example\r\nUpgrade: echo\r\nConnection: Upgrade\r\n\r\n")
	reader := bufio.NewReader(conn)
	response, err := http.ReadResponse(reader, nil)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		t.Fatalf("got %v %v", response, err)
	}
	io.WriteString(conn, "ping\n")
	if line, err := reader.ReadString('\n'); line != "ping\n" {
		t.Errorf("got %q %v", line, err)
	}
}

// Features that need a module work if nginx has it.
func TestModules(t *testing.T) {
	in, program := here(t, map[string]string{"enable-brotli": "true", "brotli-min-length": "1", "brotli-types": "text/plain", "use-geoip2": "true"})
	if in.Optional["http_brotli_filter"] == nil || in.Optional["http_brotli_static"] == nil {
		t.Skip("needs nginx's brotli modules: apt-get install libnginx-mod-http-brotli-filter libnginx-mod-http-brotli-static")
	}
	s := serve(t, hosts(in, pod(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, strings.Repeat("a", 1000))
	}), nil), in, program)
	if got := s.ask("known.example", "/", with("Accept-Encoding", "br")); got.header.Get("Content-Encoding") != "br" || len(got.body) > 100 {
		t.Errorf("%v %d bytes", got.header, len(got.body))
	}
}
