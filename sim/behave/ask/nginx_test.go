package ask

import (
	"crypto/tls"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/internal/pki"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/behave"
)

// nginxPorts are the addresses on which the nginx of startNginx listens.
type nginxPorts struct {
	http, https, h2c, proxy, none netip.AddrPort // https: with HTTP/2; none: TLS without HTTP/2, at most version 1.2
}

// startNginx starts an nginx that answers with its interpretation of a request: the variables that
// the header X names. It proxies paths below /pod and /windtunnel.v1.Pod to a pod.
func startNginx(t *testing.T, pod netip.AddrPort) nginxPorts {
	t.Helper()
	base, dir := nginxtest.FreePorts(t, 5), nginxtest.Folder(t)
	at := func(i int) netip.AddrPort {
		return netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), uint16(base+i))
	}
	ports := nginxPorts{at(0), at(1), at(2), at(3), at(4)}
	root := pki.New("root")
	between := root.Authority("between")
	leaf := between.Issue("web", []string{"a.example"})
	for name, text := range map[string][]byte{
		"tls.crt": append(leaf.Certificate, between.PEM...), "tls.key": leaf.Key, "ca.crt": clients.PEM,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	nginxtest.Start(t, nginxtest.Conf{Workers: 1, HTTP: fmt.Sprintf(`
  ssl_certificate %[1]s/tls.crt;
  ssl_certificate_key %[1]s/tls.key;
  ssl_client_certificate %[1]s/ca.crt;
  ssl_protocols TLSv1.2 TLSv1.3;
  ssl_verify_client optional;
  ssl_session_cache shared:tls:1m;
  keepalive_requests 3;
  underscores_in_headers on;
  server {
    listen %[2]s;
    listen %[3]s ssl http2;
    listen %[4]s http2;
    listen %[5]s proxy_protocol;
    location / {
      return 200 "$request_method $request_uri $uri $server_protocol $http_host $http_x $remote_addr $proxy_protocol_addr:$proxy_protocol_port $ssl_server_name $ssl_client_s_dn $ssl_protocol";
    }
    location /closed { return 444; }
    location /redirect { return 308 /elsewhere; }
    location /length { client_max_body_size 1k; proxy_pass http://%[7]s; }
    location /pod {
      proxy_pass http://%[7]s;
      proxy_http_version 1.1;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection upgrade;
    }
    location /windtunnel.v1.Pod { grpc_pass grpc://%[7]s; }
  }
  server {
    listen %[6]s ssl;
    ssl_protocols TLSv1.2;
    return 200 "$server_protocol $ssl_protocol";
  }
`, dir, ports.http, ports.https, ports.h2c, ports.proxy, ports.none, pod)})
	return ports
}

// clients signs the certificates of clients.
var clients = pki.New("clients")

func TestNginx(t *testing.T) {
	direct := pod(t)
	at := startNginx(t, direct.HTTP)
	me := map[string]tls.Certificate{"me": pair(t, clients.Issue("me", nil))}
	plain := Target{HTTP: at.http, HTTPS: at.https, Certificates: me}
	h2c := Target{HTTP: at.h2c}
	proxied := Target{HTTP: at.proxy}
	oldTLS := Target{HTTPS: at.none}
	source := &behave.Proxy{Source: "203.0.113.7:1234", Destination: "192.0.2.1:80"}
	source2 := &behave.Proxy{Version: 2, Source: source.Source, Destination: source.Destination}
	for name, c := range map[string]struct {
		to      Target
		request behave.Request
		status  int
		body    string // or the failure
	}{
		"dots":                  {plain, behave.Request{Request: "GET http://a.example/x/../y/./z//%2e%2F%41?q=%20"}, 200, "GET /x/../y/./z//%2e%2F%41?q=%20 /y/z/A HTTP/1.1 a.example  127.0.0.1 :   "},
		"dots, h2c":             {h2c, behave.Request{Request: "GET http://a.example/x/../y/./z//%2e%2F%41?q=%20", HTTP: "2"}, 200, "GET /x/../y/./z//%2e%2F%41?q=%20 /y/z/A HTTP/2.0 a.example  127.0.0.1 :   "},
		"dots, h2":              {plain, behave.Request{Request: "GET https://a.example/x/../y", HTTP: "2"}, 200, "GET /x/../y /y HTTP/2.0 a.example  127.0.0.1 : a.example  TLSv1.3"},
		"two slashes, h2c":      {h2c, behave.Request{Request: "GET http://a.example//a.example//b", HTTP: "2"}, 200, "GET //a.example//b /a.example/b HTTP/2.0 a.example  127.0.0.1 :   "},
		"above the root":        {plain, behave.Request{Request: "GET http://a.example/../x"}, 400, "*"},
		"an invalid escape":     {plain, behave.Request{Request: "GET http://a.example/%zz"}, 400, "*"},
		"a port and headers":    {plain, behave.Request{Request: "GET http://a.example:81/", Headers: map[string]behave.Values{"x": {"1"}}}, 200, "GET / / HTTP/1.1 a.example:81 1 127.0.0.1 :   "},
		"HTTP/1.0":              {plain, behave.Request{Request: "GET http://a.example/", HTTP: "1.0", Headers: map[string]behave.Values{"Host": nil}}, 200, "GET / / HTTP/1.0   127.0.0.1 :   "},
		"HTTP/1.1 without Host": {plain, behave.Request{Request: "GET http://a.example/", Headers: map[string]behave.Values{"Host": nil}}, 400, "*"},
		"TRACE":                 {plain, behave.Request{Request: "TRACE http://a.example/"}, 405, "*"},
		"TRACE, h2c":            {h2c, behave.Request{Request: "TRACE http://a.example/", HTTP: "2"}, 405, "*"},
		"lower case":            {plain, behave.Request{Request: "get http://a.example/"}, 400, "*"},
		"PROPFIND":              {plain, behave.Request{Request: "PROPFIND http://a.example/"}, 200, "PROPFIND / / HTTP/1.1 a.example  127.0.0.1 :   "},
		"HEAD":                  {plain, behave.Request{Request: "HEAD http://a.example/"}, 200, ""},
		"HEAD, h2c":             {h2c, behave.Request{Request: "HEAD http://a.example/", HTTP: "2"}, 200, ""},
		"a redirect":            {plain, behave.Request{Request: "GET http://a.example/redirect"}, 308, "*"},
		"no answer":             {plain, behave.Request{Request: "GET http://a.example/closed"}, 0, closed},
		"a body too large":      {plain, behave.Request{Request: "POST http://a.example/length", Bytes: 1 << 20}, 413, "*"},
		"a body too large, h2c": {h2c, behave.Request{Request: "POST http://a.example/length", HTTP: "2", Bytes: 1 << 20}, 413, "*"},
		"another source":        {plain, behave.Request{Request: "GET http://a.example/", From: "127.9.8.7"}, 200, "GET / / HTTP/1.1 a.example  127.9.8.7 :   "},
		"PROXY 1":               {proxied, behave.Request{Request: "GET http://a.example/", Proxy: source}, 200, "GET / / HTTP/1.1 a.example  127.0.0.1 203.0.113.7:1234   "},
		"PROXY 2":               {proxied, behave.Request{Request: "GET http://a.example/", Proxy: source2}, 200, "GET / / HTTP/1.1 a.example  127.0.0.1 203.0.113.7:1234   "},
		"PROXY is missing":      {proxied, behave.Request{Request: "GET http://a.example/"}, 0, "closed or reset"},
		"PROXY unasked":         {plain, behave.Request{Request: "GET http://a.example/", Proxy: source}, 400, "*"},
		"TLS":                   {plain, behave.Request{Request: "GET https://a.example/", TLS: behave.ClientTLS{Max: "1.2"}}, 200, "GET / / HTTP/1.1 a.example  127.0.0.1 : a.example  TLSv1.2"},
		"no server name":        {plain, behave.Request{Request: "GET https://a.example/", TLS: behave.ClientTLS{SNI: "-"}}, 200, "GET / / HTTP/1.1 a.example  127.0.0.1 :   TLSv1.3"},
		"a client":              {plain, behave.Request{Request: "GET https://a.example/", TLS: behave.ClientTLS{Certificate: "me"}}, 200, "GET / / HTTP/1.1 a.example  127.0.0.1 : a.example CN=me TLSv1.3"},
		"TLS 1.3 is off":        {oldTLS, behave.Request{Request: "GET https://a.example/", TLS: behave.ClientTLS{Min: "1.3"}}, 0, tlsFail},
		"HTTP/2 is off":         {oldTLS, behave.Request{Request: "GET https://a.example/", HTTP: "2"}, 200, "HTTP/1.1 TLSv1.2"},
		"h2c is off":            {plain, behave.Request{Request: "GET http://a.example/", HTTP: "2"}, 0, "closed or reset"},
		"no TLS":                {Target{HTTPS: at.http}, behave.Request{Request: "GET https://a.example/"}, 0, tlsFail},
		"TLS, unasked":          {Target{HTTP: at.https}, behave.Request{Request: "GET http://a.example/"}, 400, "*"},
		"WebSocket":             {plain, behave.Request{Request: "GET http://a.example/pod/chat", WebSocket: true, Body: "hello"}, 101, "hello"},
		"WebSocket, TLS":        {plain, behave.Request{Request: "GET https://a.example/pod/chat", WebSocket: true, Body: "hello"}, 101, "hello"},
		"no WebSocket":          {plain, behave.Request{Request: "GET http://a.example/redirect", WebSocket: true}, 308, "*"},
		"gRPC":                  {h2c, behave.Request{Request: "POST http://a.example" + backend.AskMethod, GRPC: true, Body: "hello"}, 200, "*"},
		"gRPC, TLS":             {plain, behave.Request{Request: "POST https://a.example" + backend.AskMethod, GRPC: true, Body: "hello"}, 200, "*"},
	} {
		t.Run(name, func(t *testing.T) {
			e := one(t, c.to, c.request)
			if c.status == 0 {
				if !strings.Contains(c.body, e.Failure) || e.Failure == "" {
					t.Errorf("%s, want %s", show(e), c.body)
				}
				return
			}
			if e.Failure != "" || e.Status != c.status || c.body != "*" && string(e.Body) != c.body {
				t.Errorf("%s\n%q, want\n%d\n%q", show(e), e.Body, c.status, c.body)
			}
			if c.request.GRPC && (e.Trailer.Get("Grpc-Status") != "0" || !strings.Contains(string(e.Body), "demo/web-1")) {
				t.Errorf("trailer %v, body %q", e.Trailer, e.Body)
			}
			if https := strings.Contains(c.request.Request, "https"); https != (e.TLS != nil) || https && c.to.HTTPS == at.https && e.TLS.Chain != 2 {
				t.Errorf("session %+v", e.TLS)
			}
		})
	}

	for _, http := range []string{"1.1", "2"} {
		all := several(t, plain, behave.Request{Request: "GET https://a.example/", HTTP: http, Times: 4, KeepAlive: true})
		if all[2].Status != 200 || all[3].Failure != closed {
			t.Errorf("HTTP/%s, keepalive_requests 3: %s, then %s", http, show(all[2]), show(all[3]))
		}
	}
	all := several(t, plain, behave.Request{Request: "GET https://a.example/", Times: 2})
	if all[0].TLS.Resumed || !all[1].TLS.Resumed {
		t.Errorf("%+v, then %+v", all[0].TLS, all[1].TLS)
	}
	for _, e := range several(t, plain, behave.Request{Request: "GET http://a.example/", Times: 50, Together: true}) {
		if e.Status != 200 {
			t.Errorf("%s", show(e))
		}
	}
}
