package controller_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"windtunnel.dev/controller"
)

// A real nginx implements what annotations request. Each feature has its own host.
func TestFeatures(t *testing.T) {
	t.Parallel()
	names := serveNames(t, map[string]string{"shop.test.": "127.88.3.1"})
	shop := serve(t, "127.88.3.1", echo("shop"))
	stable, other := serve(t, "127.88.1.1", echo("stable")), serve(t, "127.88.1.2", echo("other"))
	r := launchAs(t, true, func(c *controller.Config) { c.Lua = names.lua(t) }, func(r *running) {
		r.deploy("stable", stable)
		r.deploy("canary", serve(t, "127.88.2.1", echo("canary")))
		r.deploy("two", stable, other)
		r.deploy("nobody")
		r.deploy("errors", serve(t, "127.88.4.1", echo("errors")))
		r.deploy("ws", serve(t, "127.88.5.1", http.HandlerFunc(shout)))
		r.deploy("grpc", serve(t, "127.88.6.1", http.HandlerFunc(asGRPC)))
		r.create(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "shop"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "shop.test"}})
		for _, kind := range []struct{ name, key, value string }{
			{"header", "canary-by-header", "X-Canary"}, {"cookie", "canary-by-cookie", "tester"}, {"weight", "canary-weight", "50"},
		} {
			r.deploy("main-"+kind.name, stable)
			r.deploy("beside-"+kind.name, serve(t, "127.88.2.2", echo("canary")))
			r.route("main-"+kind.name, kind.name+".example", "/", "main-"+kind.name)
			r.route("beside-"+kind.name, kind.name+".example", "/", "beside-"+kind.name, "canary", "true", kind.key, kind.value)
		}
		r.route("sticky", "sticky.example", "/", "two", "affinity", "cookie", "session-cookie-name", "stay")
		r.deploy("hashed", stable, other)
		r.route("hashed", "hashed.example", "/", "hashed", "upstream-hash-by", "$arg_user")
		r.routePort("shop", "shop.example", "/", "shop", int32(shop.Port))
		r.route("rewrite", "rewrite.example", "/api(/|$)(.*)", "stable", "rewrite-target", "/v1/$2", "x-forwarded-prefix", "/api")
		r.route("root", "root.example", "/", "stable", "app-root", "/app")
		r.route("moved", "moved.example", "/", "stable", "permanent-redirect", "https://elsewhere.example/x")
		r.route("www", "www.bare.example", "/", "stable", "from-to-www-redirect", "true", "server-alias", "alias.example")
		r.route("errors", "errors.example", "/", "stable", "custom-http-errors", "404,503", "default-backend", "errors")
		r.route("fallback", "fallback.example", "/", "nobody", "default-backend", "errors")
		r.route("nobody", "nobody.example", "/", "nobody")
		r.route("vhost", "vhost.example", "/", "stable", "upstream-vhost", "inside.example")
		r.route("ws", "ws.example", "/", "ws")
		r.route("grpc", "grpc.example", "/", "grpc", "backend-protocol", "GRPC")
	})
	r.log.next("ready")
	for name, feature := range map[string]func(*running){
		"canary by header":        canaryByHeader,
		"canary by cookie":        canaryByCookie,
		"canary by weight":        canaryByWeight,
		"sticky sessions":         stickySessions,
		"consistent hashing":      consistentHashing,
		"external name":           externalName,
		"rewrite":                 rewrite,
		"redirects":               redirects,
		"aliases":                 aliases,
		"errors of the pod":       podErrors,
		"no endpoint":             noEndpoint,
		"host for the pod":        upstreamHost,
		"websocket":               upgrade,
		"gRPC through TLS to h2c": grpc,
	} {
		t.Run(name, func(t *testing.T) { feature(r.on(t)) })
	}
}

// wants checks which pod answers a request for "/" of a host, with headers as pairs.
func (r *running) wants(pod, host string, headers ...string) {
	r.Helper()
	if got := r.ask(host, "/", headers...); got.pod() != pod {
		r.Errorf("%s with %q is answered by %q (%s), want %s", host, headers, got.pod(), got.Status, pod)
	}
}

func canaryByHeader(r *running) {
	r.wants("canary", "header.example", "X-Canary", "always")
	r.wants("stable", "header.example", "X-Canary", "never")
	r.wants("stable", "header.example")
}

func canaryByCookie(r *running) {
	r.wants("canary", "cookie.example", "Cookie", "tester=always")
	r.wants("stable", "cookie.example", "Cookie", "tester=never")
	r.wants("stable", "cookie.example")
}

// answers sends n requests and returns the number of answers by pod.
func (r *running) answers(n int, host string, uri func(i int) string) map[string]int {
	r.Helper()
	count := make(map[string]int)
	for i := range n {
		count[r.ask(host, uri(i)).pod()]++
	}
	return count
}

func always(uri string) func(int) string { return func(int) string { return uri } }

func canaryByWeight(r *running) {
	if got := r.answers(200, "weight.example", always("/")); got["stable"] == 0 || got["canary"] == 0 || got["stable"]+got["canary"] != 200 {
		r.Errorf("of 200 requests: %v, want both", got)
	}
}

func stickySessions(r *running) {
	if got := r.answers(50, "sticky.example", always("/")); got["stable"] == 0 || got["other"] == 0 {
		r.Errorf("without a cookie: %v, want both pods", got)
	}
	first := r.ask("sticky.example", "/")
	cookies := first.Cookies()
	if len(cookies) != 1 || cookies[0].Name != "stay" || !cookies[0].HttpOnly || cookies[0].Path != "/" {
		r.Fatalf("cookies %v", first.Header["Set-Cookie"])
	}
	for range 20 {
		r.wants(first.pod(), "sticky.example", "Cookie", "stay="+cookies[0].Value)
	}
}

func consistentHashing(r *running) {
	for i := range 5 {
		if got := r.answers(10, "hashed.example", always(fmt.Sprintf("/?user=%d", i))); len(got) != 1 {
			r.Errorf("user %d is answered by %v, want one pod", i, got)
		}
	}
	if got := r.answers(64, "hashed.example", func(i int) string { return fmt.Sprintf("/?user=%d", i) }); len(got) != 2 {
		r.Errorf("64 users are answered by %v, want both pods", got)
	}
}

func externalName(r *running) {
	r.awaitWanted("shop.example", "/", func(a reply) bool { return a.pod() == "shop" })
}

func rewrite(r *running) {
	got := r.ask("rewrite.example", "/API/users?x=1")
	if !strings.HasPrefix(got.body, "stable /v1/users?x=1\n") || !strings.Contains(got.body, "X-Forwarded-Prefix: /api\r\n") {
		r.Errorf("got %s %s", got.Status, got.body)
	}
}

func redirects(r *running) {
	for _, test := range []struct {
		host, uri string
		code      int
		to        string
	}{
		{"root.example", "/", 302, "http://root.example/app"},
		{"root.example", "/app", 200, ""},
		{"moved.example", "/y", 301, "https://elsewhere.example/x"},
		{"bare.example", "/y/?z", 308, fmt.Sprintf("http://www.bare.example:%d/y/?z", r.ports.HTTP)},
		{"bare.example", "/y/", 308, fmt.Sprintf("http://www.bare.example:%d/y", r.ports.HTTP)},
	} {
		if got := r.ask(test.host, test.uri); got.StatusCode != test.code || got.Header.Get("Location") != test.to {
			r.Errorf("%s%s: %s to %q, want %d to %q", test.host, test.uri, got.Status, got.Header.Get("Location"), test.code, test.to)
		}
	}
}

func aliases(r *running) { r.wants("stable", "alias.example") }

func podErrors(r *running) {
	got := r.ask("errors.example", "/status/404", "Accept", "text/css")
	if got.pod() != "errors" {
		r.Fatalf("%s by %q", got.Status, got.pod())
	}
	for _, header := range []string{"X-Code: 404", "X-Format: text/css", "X-Original-Uri: /status/404", "X-Namespace: default", "X-Ingress-Name: errors", "X-Service-Name: stable", "X-Service-Port: 80"} {
		if !strings.Contains(got.body, header+"\r\n") {
			r.Errorf("no %s in\n%s", header, got.body)
		}
	}
	if got := r.ask("errors.example", "/status/500"); got.pod() != "stable" || got.StatusCode != 500 {
		r.Errorf("a status that is not listed: %s by %q", got.Status, got.pod())
	}
}

func noEndpoint(r *running) {
	r.wants("errors", "fallback.example")
	if got := r.ask("nobody.example", "/"); got.StatusCode != http.StatusServiceUnavailable {
		r.Errorf("without a fallback: %s", got.Status)
	}
}

func upstreamHost(r *running) {
	got := r.ask("vhost.example", "/", "X-Forwarded-Host", "untrusted.example")
	if !strings.Contains(got.body, "X-Forwarded-Host: vhost.example\r\n") {
		r.Errorf("%s", got.body)
	}
}

// shout answers each message of a WebSocket in upper case.
func shout(w http.ResponseWriter, request *http.Request) {
	conn, err := websocket.Accept(w, request, nil)
	if err != nil {
		return
	}
	defer conn.CloseNow()
	for {
		kind, text, err := conn.Read(request.Context())
		if err != nil || conn.Write(request.Context(), kind, []byte(strings.ToUpper(string(text)))) != nil {
			return
		}
	}
}

func upgrade(r *running) {
	ctx, cancel := context.WithTimeout(r.Context(), limit)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, fmt.Sprintf("ws://127.0.0.1:%d/", r.ports.HTTP), &websocket.DialOptions{Host: "ws.example"})
	r.must(err)
	defer conn.CloseNow()
	for _, word := range []string{"one", "two"} {
		r.must(conn.Write(ctx, websocket.MessageText, []byte(word)))
		_, text, err := conn.Read(ctx)
		r.must(err)
		if string(text) != strings.ToUpper(word) {
			r.Errorf("%q came back as %q", word, text)
		}
	}
}

// asGRPC answers like a gRPC server: over HTTP/2, with the status in a trailer.
func asGRPC(w http.ResponseWriter, request *http.Request) {
	io.Copy(io.Discard, request.Body) // otherwise Go may reset the stream before nginx has sent all of it
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Trailer", "Grpc-Status")
	fmt.Fprintf(w, "%s %s %s", request.Proto, request.URL.Path, request.Header.Get("Te"))
	w.Header().Set("Grpc-Status", "0")
}

func grpc(r *running) {
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	request, err := http.NewRequestWithContext(r.Context(), http.MethodPost, fmt.Sprintf("https://127.0.0.1:%d/shop.Shop/Buy", r.ports.HTTPS), strings.NewReader("\x00\x00\x00\x00\x00"))
	r.must(err)
	request.Host = "grpc.example"
	request.Header.Set("Content-Type", "application/grpc")
	request.Header.Set("Te", "trailers")
	response, err := transport.RoundTrip(request)
	r.must(err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	r.must(err)
	if response.Proto != "HTTP/2.0" || string(body) != "HTTP/2.0 /shop.Shop/Buy trailers" || response.Trailer.Get("Grpc-Status") != "0" {
		r.Errorf("%s %s, body %q, trailer %v", response.Proto, response.Status, body, response.Trailer)
	}
}
