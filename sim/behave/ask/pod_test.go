package ask

import (
	"bufio"
	"crypto/sha1"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"windtunnel.dev/internal/pki"
	"windtunnel.dev/internal/port"
	"windtunnel.dev/sim/backend"
	"windtunnel.dev/sim/behave"
)

// pod starts a pod that speaks HTTP, gRPC and WebSocket.
func pod(t *testing.T) Target {
	t.Helper()
	free, err := port.Free(1)
	if err != nil {
		t.Fatal(err)
	}
	fleet := backend.New(backend.Options{Prefix: netip.MustParsePrefix("127.214.0.0/24"), Port: free})
	t.Cleanup(fleet.Stop)
	p, err := fleet.Start("demo/web-1", "demo/web")
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Ready(); err != nil {
		t.Fatal(err)
	}
	return Target{HTTP: p.Addr()}
}

func TestGRPC(t *testing.T) {
	const sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // of abc: FIPS 180-2, B.1
	direct := pod(t)
	for name, c := range map[string]struct {
		to     Target
		scheme string
	}{"h2c": {direct, "http"}, "TLS": {inFront(t, direct), "https"}} {
		t.Run(name, func(t *testing.T) {
			e := one(t, c.to, behave.Request{Request: "POST " + c.scheme + "://a.example" + backend.AskMethod, GRPC: true, Body: "abc"})
			var who backend.Identity
			if err := json.Unmarshal(e.Body, &who); err != nil || who.Pod != "demo/web-1" || who.Body != sum {
				t.Errorf("%s: %q, %v", show(e), e.Body, err)
			}
			if e.Status != 200 || e.Protocol != "HTTP/2.0" || e.Trailer.Get("Grpc-Status") != "0" || e.Header.Get(backend.PodHeader) != "demo/web-1" {
				t.Errorf("%s: header %v, trailer %v", show(e), e.Header, e.Trailer)
			}
		})
	}
	unknown := one(t, direct, behave.Request{Request: "POST http://a.example/windtunnel.v1.Pod/None", GRPC: true})
	if unknown.Status != 200 || unknown.Header.Get("Grpc-Status")+unknown.Trailer.Get("Grpc-Status") != "12" {
		t.Errorf("%s: header %v, trailer %v", show(unknown), unknown.Header, unknown.Trailer)
	}
	bad := one(t, direct, behave.Request{Request: "POST http://a.example" + backend.AskMethod, GRPC: true, Headers: map[string]behave.Values{backend.TakeHeader: {"soon"}}})
	if got := bad.Trailer.Get("Grpc-Status") + bad.Header.Get("Grpc-Status"); got != "3" || bad.Trailer.Get("Grpc-Message")+bad.Header.Get("Grpc-Message") == "" {
		t.Errorf("%s: header %v, trailer %v", show(bad), bad.Header, bad.Trailer)
	}
}

// inFront starts a proxy with TLS in front of a pod.
func inFront(t *testing.T, to Target) Target {
	t.Helper()
	u := &url.URL{Scheme: "http", Host: to.HTTP.String()}
	h2c := &http2.Transport{AllowHTTP: true, DialTLS: func(network, address string, _ *tls.Config) (net.Conn, error) { return net.Dial(network, address) }}
	t.Cleanup(h2c.CloseIdleConnections)
	s := &http.Server{
		Handler:   &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }, Transport: h2c, FlushInterval: -1},
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{pair(t, pki.New("root").Issue("web", nil))}, NextProtos: []string{"h2"}},
	}
	l, err := net.Listen("tcp", anyPort)
	if err != nil {
		t.Fatal(err)
	}
	go s.ServeTLS(l, "", "")
	t.Cleanup(func() { s.Close() })
	return Target{HTTPS: l.Addr().(*net.TCPAddr).AddrPort()}
}

// A proxy that answers a call itself: the answer is recorded as it is.
func TestGRPCErrorPage(t *testing.T) {
	for _, body := range []string{"<html>", "\x00\x00\x00\x00\x09", "\x01\x00\x00\x00\x00", "\x00\x00\x00\x00\x01\xff"} {
		if got := grpcContent(http.Header{"Content-Type": {"application/grpc"}}, []byte(body)); string(got) != body {
			t.Errorf("%q became %q", body, got)
		}
	}
	message, err := grpcMessage([]byte("text"))
	if err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[string]string{"application/grpc+proto": "text", "text/html": string(message)} {
		if got := grpcContent(http.Header{"Content-Type": {kind}}, message); string(got) != want {
			t.Errorf("%s: %q", kind, got)
		}
	}
}

func TestWebSocket(t *testing.T) {
	to := pod(t)
	for _, body := range []string{"a message", "", strings.Repeat("long", 1<<13)} {
		e := one(t, to, behave.Request{Request: "GET http://a.example/chat", WebSocket: true, Body: body})
		if e.Status != 101 || string(e.Body) != body || e.Protocol != "HTTP/1.1" || e.Header.Get(backend.PodHeader) != "demo/web-1" || e.Took <= 0 {
			t.Errorf("%s, %d bytes, %v", show(e), len(e.Body), e.Header)
		}
	}
	other := respond(t, "HTTP/1.1 302 Found\r\nLocation: http://b.example/\r\nContent-Length: 4\r\n\r\ntext")
	if e := one(t, other, behave.Request{Request: "GET http://a.example/chat", WebSocket: true}); e.Status != 302 || string(e.Body) != "text" || e.Failure != "" {
		t.Errorf("%s, %q", show(e), e.Body)
	}
	wrong := respond(t, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n")
	if e := one(t, wrong, behave.Request{Request: "GET http://a.example/chat", WebSocket: true}); e.Failure != closed || !strings.Contains(e.Detail, "Sec-WebSocket-Accept") {
		t.Errorf("%s", show(e))
	}
}

// The handshake as RFC 6455 has it, a message that comes with its answer, and no close handshake.
func TestWebSocketOnTheWire(t *testing.T) {
	heads := make(chan string, 1)
	to := Target{HTTP: serve(t, anyPort, func(c net.Conn) {
		head, _ := readRequestHead(bufio.NewReader(c))
		heads <- head
		_, key, _ := strings.Cut(head, "Sec-WebSocket-Key: ")
		key, _, _ = strings.Cut(key, "\r\n")
		sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "+
			base64.StdEncoding.EncodeToString(sum[:])+"\r\n\r\n\x81\x05hello")
		c.(*net.TCPConn).CloseWrite()
		io.ReadAll(c)
	})}
	e := one(t, to, behave.Request{Request: "GET http://a.example//chat/..", WebSocket: true, Body: "x", Headers: map[string]behave.Values{"Origin": {"null"}}})
	if e.Status != 101 || string(e.Body) != "hello" {
		t.Errorf("%s, %q", show(e), e.Body)
	}
	head := <-heads
	_, key, _ := strings.Cut(head, "Sec-WebSocket-Key: ")
	key, _, _ = strings.Cut(key, "\r\n")
	want := lines("GET //chat/.. HTTP/1.1", "Host: a.example", "User-Agent: windtunnel", "Accept: */*", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: "+key, "Origin: null")
	if raw, err := base64.StdEncoding.DecodeString(key); head != want || err != nil || len(raw) != 16 {
		t.Errorf("sent\n%q, want\n%q", head, want)
	}
}
