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
	"testing"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
)

// told is a pod whose response describes the request: the headers that a test requests, one per
// line, the method, the path and the protocol.
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

func TestMirrorsAndFastCGI(t *testing.T) {
	t.Parallel()
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
	addBackends(m, &model.Backend{Name: "demo-php-9000", Endpoints: []model.Endpoint{endpointOf(listener)}})
	s := serve(t, m, in, program)

	got := s.ask("mirror.example", "/a?b", func(r *http.Request) {
		r.Method, r.Body = http.MethodPut, io.NopCloser(strings.NewReader("content"))
	})
	if got.Status != 200 {
		t.Errorf("%d %s", got.Status, got.Body)
	}
	if copied := <-copies; copied != "PUT /a?b host=copy.example content" {
		t.Errorf("mirrored %q", copied)
	}
	if got := s.ask("fcgi.example", "/app/", nil); got.Body != "GET /app/ /srv/app/index.php" {
		t.Errorf("FastCGI: %d %q", got.Status, got.Body)
	}
}

// nginx passes the client's address to FastCGI programs, as it does to pods with HTTP. The client's
// own headers about it do not reach them.
func TestFastCGIParametersComeFromNginx(t *testing.T) {
	t.Parallel()
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
	addBackends(m, &model.Backend{Name: "demo-php-9000", Endpoints: []model.Endpoint{endpointOf(listener)}})
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
		if got.Status != 200 {
			t.Errorf("%s: %d", test.host, got.Status)
		}
		for _, line := range test.has {
			line, no := strings.CutPrefix(strings.ReplaceAll(line, "{host}", test.host), "!")
			if strings.Contains("\n"+strings.ReplaceAll(got.Body, "\r", ""), "\n"+line) == no {
				t.Errorf("%s: %s (unwanted: %t) in\n%s", test.host, line, no, got.Body)
			}
		}
	}
}

func TestWebSocketsPass(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	in, program := here(t, map[string]string{"enable-brotli": "true", "brotli-min-length": "1", "brotli-types": "text/plain", "use-geoip2": "true"})
	if in.Optional["http_brotli_filter"] == nil || in.Optional["http_brotli_static"] == nil {
		t.Skip("needs nginx's brotli modules: apt-get install libnginx-mod-http-brotli-filter libnginx-mod-http-brotli-static")
	}
	s := serve(t, hosts(in, pod(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		io.WriteString(w, strings.Repeat("a", 1000))
	}), nil), in, program)
	if got := s.ask("known.example", "/", with("Accept-Encoding", "br")); got.Header.Get("Content-Encoding") != "br" || len(got.Body) > 100 {
		t.Errorf("%v %d bytes", got.Header, len(got.Body))
	}
}
