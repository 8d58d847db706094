package ask

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"windtunnel.dev/sim/behave"
)

// cut ends a connection with an RST.
func cut(c net.Conn) { c.(*net.TCPConn).SetLinger(0) }

func TestFailures(t *testing.T) {
	free, err := net.Listen("tcp", anyPort)
	if err != nil {
		t.Fatal(err)
	}
	free.Close()
	nobody := free.Addr().(*net.TCPAddr).AddrPort()

	silent := func(c net.Conn) { io.ReadAll(c) }
	resets := func(c net.Conn) { readRequestHead(bufio.NewReader(c)); cut(c) }
	resetsHello := func(c net.Conn) { io.ReadFull(c, make([]byte, 5)); cut(c) }
	resetsBody := func(c net.Conn) {
		r := bufio.NewReader(c)
		readRequestHead(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nte")
		r.ReadByte() // the client has read that: it sends the rest
		cut(c)
	}
	closes := func(c net.Conn) { readRequestHead(bufio.NewReader(c)) }
	get := behave.Request{Request: "GET http://a.example/"}
	for name, c := range map[string]struct {
		answer  func(net.Conn) // nil: nobody listens
		request behave.Request
		want    string
		detail  string
		status  int
	}{
		"nobody listens":           {nil, get, refused, "connection refused", 0},
		"nobody listens, TLS":      {nil, behave.Request{Request: "GET https://a.example/"}, refused, "connection refused", 0},
		"nobody listens, h2":       {nil, behave.Request{Request: "GET http://a.example/", HTTP: "2"}, refused, "connection refused", 0},
		"nobody listens, gRPC":     {nil, behave.Request{Request: "POST http://a.example/a.B/C", GRPC: true}, refused, "connection refused", 0},
		"no answer":                {silent, behave.Request{Request: get.Request, Timeout: 50 * time.Millisecond}, timeout, "i/o timeout", 0},
		"no answer, TLS":           {silent, behave.Request{Request: "GET https://a.example/", Timeout: 50 * time.Millisecond}, timeout, "TLS handshake: ", 0},
		"no answer, h2":            {silent, behave.Request{Request: get.Request, HTTP: "2", Timeout: 50 * time.Millisecond}, timeout, "", 0},
		"no answer, websocket":     {silent, behave.Request{Request: get.Request, WebSocket: true, Timeout: 50 * time.Millisecond}, timeout, "timeout", 0},
		"a reset":                  {resets, get, reset, "connection reset by peer", 0},
		"a reset, websocket":       {resets, behave.Request{Request: get.Request, WebSocket: true}, reset, "connection reset by peer", 0},
		"a reset in the handshake": {resetsHello, behave.Request{Request: "GET https://a.example/"}, reset, "connection reset by peer", 0},
		"a reset in the body": {resetsBody, behave.Request{Request: "POST http://a.example/", Body: "x"},
			reset, "connection reset by peer", 200},
		"closed without an answer": {closes, get, closed, "EOF", 0},
		"closed, TLS":              {func(c net.Conn) { io.ReadFull(c, make([]byte, 5)); c.(*net.TCPConn).CloseWrite(); io.ReadAll(c) }, behave.Request{Request: "GET https://a.example/"}, closed, "TLS handshake: EOF", 0},
		"no TLS":                   {func(c net.Conn) { io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n"); io.ReadAll(c) }, behave.Request{Request: "GET https://a.example/"}, tlsFail, "first record does not look like a TLS handshake", 0},
		"no HTTP/2":                {func(c net.Conn) { io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n"); io.ReadAll(c) }, behave.Request{Request: get.Request, HTTP: "2"}, closed, "http2: ", 0},
		"closed by WebSocket":      {func(c net.Conn) { readRequestHead(bufio.NewReader(c)) }, behave.Request{Request: get.Request, WebSocket: true}, closed, "EOF", 0},
	} {
		t.Run(name, func(t *testing.T) {
			to := Target{HTTP: nobody, HTTPS: nobody}
			if c.answer != nil {
				to.HTTP = serve(t, anyPort, c.answer)
				to.HTTPS = to.HTTP
			}
			e := one(t, to, c.request)
			if e.Failure != c.want || !strings.Contains(e.Detail, c.detail) || e.Status != c.status {
				t.Errorf("%q: %s, status %d; want %q: %s, status %d", e.Failure, e.Detail, e.Status, c.want, c.detail, c.status)
			}
			if strings.Contains(e.Detail, "->") {
				t.Errorf("%s names the sockets of this machine", e.Detail)
			}
			if c.want == refused && e.Took != 0 {
				t.Errorf("took %v without a connection", e.Took)
			}
		})
	}
}

func TestRequestsThatCannotBeSent(t *testing.T) {
	to := Target{HTTP: netip.MustParseAddrPort("127.0.0.1:1"), HTTPS: netip.MustParseAddrPort("127.0.0.1:1")}
	header := func(name string, values ...string) map[string]behave.Values {
		return map[string]behave.Values{name: values}
	}
	const get, secure = "GET http://a.example/", "GET https://a.example/"
	for want, r := range map[string]behave.Request{
		"GET http://a/b c: column 15: a raw space in the URL":        {Request: "GET http://a/b c"},
		`http "3": want 1.0, 1.1 or 2`:                               {Request: get, HTTP: "3"},
		"grpc needs HTTP/2":                                          {Request: get, GRPC: true, HTTP: "1.1"},
		"grpc and websocket exclude":                                 {Request: get, GRPC: true, WebSocket: true},
		"grpc and chunked exclude":                                   {Request: get, GRPC: true, Chunked: true},
		"websocket needs HTTP/1.1":                                   {Request: get, WebSocket: true, HTTP: "2"},
		"websocket and keep-alive exclude":                           {Request: get, WebSocket: true, KeepAlive: true},
		"websocket and chunked exclude":                              {Request: get, WebSocket: true, Chunked: true},
		"together and keep-alive exclude":                            {Request: get, Together: true, KeepAlive: true},
		"body and bytes exclude":                                     {Request: get, Body: "x", Bytes: 1},
		"times is negative":                                          {Request: get, Times: -1},
		"bytes is negative":                                          {Request: get, Bytes: -1},
		"timeout is negative":                                        {Request: get, Timeout: -1},
		`header "": not the name`:                                    {Request: get, Headers: header("", "x")},
		`header "a:b": not the name`:                                 {Request: get, Headers: header("a:b", "x")},
		"header X: \"a\\r\\nb\" has a line break":                    {Request: get, Headers: header("X", "a\r\nb")},
		"header Connection cannot be sent with HTTP/2":               {Request: get, HTTP: "2", Headers: header("Connection", "close")},
		"header User-Agent can be sent only once":                    {Request: get, HTTP: "2", Headers: header("User-Agent", "a", "b")},
		`header "a b" cannot be sent with HTTP/2`:                    {Request: get, HTTP: "2", Headers: header("a b", "x")},
		`header X: "\x01" cannot be sent with HTTP/2`:                {Request: get, HTTP: "2", Headers: header("X", "\x01")},
		"HTTP/2 needs one Host":                                      {Request: get, HTTP: "2", Headers: header("Host")},
		`host "a b" cannot be sent with HTTP/2`:                      {Request: get, HTTP: "2", Headers: header("Host", "a b")},
		"no IPv6 listener for http":                                  {Request: get, IPv6: true},
		"from: ParseAddr":                                            {Request: get, From: "me"},
		"from ::1: the connection is one over IPv4":                  {Request: get, From: "::1"},
		"cannot assign requested address":                            {Request: get, From: "192.0.2.1"},
		"proxy: source":                                              {Request: get, Proxy: &behave.Proxy{Source: "x", Destination: "1.2.3.4:5"}},
		"proxy: destination":                                         {Request: get, Proxy: &behave.Proxy{Source: "1.2.3.4:5", Destination: "1.2.3.4"}},
		"proxy: version 3: want 1 or 2":                              {Request: get, Proxy: &behave.Proxy{Version: 3, Source: "1.2.3.4:5", Destination: "1.2.3.4:5"}},
		"of different families":                                      {Request: get, Proxy: &behave.Proxy{Source: "1.2.3.4:5", Destination: "[::1]:5"}},
		"tls is for https URLs":                                      {Request: get, TLS: behave.ClientTLS{Min: "1.2"}},
		`tls: version "1.4"`:                                         {Request: secure, TLS: behave.ClientTLS{Min: "1.4"}},
		`tls: version "3"`:                                           {Request: secure, TLS: behave.ClientTLS{Max: "3"}},
		"tls: min 1.3 is above max 1.2":                              {Request: secure, TLS: behave.ClientTLS{Min: "1.3", Max: "1.2"}},
		"tls: Go has no cipher suite X":                              {Request: secure, TLS: behave.ClientTLS{Ciphers: []string{"X"}}},
		"tls: cipher suite TLS_AES_128_GCM_SHA256: those of TLS 1.3": {Request: secure, TLS: behave.ClientTLS{Ciphers: []string{"TLS_AES_128_GCM_SHA256"}}},
		"tls: there is no certificate me":                            {Request: secure, TLS: behave.ClientTLS{Certificate: "me"}},
		"jar a: there are no cookie jars":                            {Request: get, Jar: "a"},
	} {
		if all, err := Send(t.Context(), to, r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %+v, %v; want %q", r, all, err, want)
		}
	}
}

// The end of the context is no failure of the server.
func TestEndOfTheContext(t *testing.T) {
	for _, http := range []string{"1.1", "2"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		mine := errors.New("the user stopped it")
		to := Target{HTTP: serve(t, anyPort, func(c net.Conn) {
			io.ReadFull(c, make([]byte, 20))
			cancel(mine)
			io.ReadAll(c)
		})}
		all, err := Send(ctx, to, behave.Request{Request: "GET http://a.example/", HTTP: http, Timeout: patience})
		if !errors.Is(err, mine) || all != nil {
			t.Errorf("HTTP/%s: %+v, %v", http, all, err)
		}
	}
}

func TestSourceAddress(t *testing.T) {
	from := make(chan string, 1)
	report := func(c net.Conn) {
		host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
		from <- host
		readRequestHead(bufio.NewReader(c))
		io.WriteString(c, ok)
	}
	to := Target{HTTP: serve(t, anyPort, report)}
	one(t, to, behave.Request{Request: "GET http://a.example/", From: "127.7.8.9"})
	if got := <-from; got != "127.7.8.9" {
		t.Errorf("from %s", got)
	}

	if l, err := net.Listen("tcp6", "[::1]:0"); err != nil {
		t.Skip(err)
	} else {
		l.Close()
	}
	to.HTTP6 = serve(t, "[::1]:0", report)
	one(t, to, behave.Request{Request: "GET http://a.example/", IPv6: true, From: "::1"})
	if got := <-from; got != "::1" {
		t.Errorf("from %s", got)
	}
}

// counting answers requests, and counts the connections.
func counting(t *testing.T, answers ...string) (Target, *atomic.Int32) {
	var connections atomic.Int32
	return Target{HTTP: serve(t, anyPort, func(c net.Conn) {
		connections.Add(1)
		r := bufio.NewReader(c)
		for _, answer := range answers {
			if _, err := readRequestHead(r); err != nil {
				return
			}
			io.WriteString(c, answer)
		}
		c.(*net.TCPConn).CloseWrite()
		io.ReadAll(c)
	})}, &connections
}

func TestKeepAlive(t *testing.T) {
	request := behave.Request{Request: "GET http://a.example/", Times: 3, KeepAlive: true}
	const text = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntext"
	for name, c := range map[string]struct {
		answers []string
		want    []string
	}{
		"three answers":     {[]string{text, "HTTP/1.1 204 No Content\r\n\r\n", text}, []string{"200 ", "204 ", "200 "}},
		"Connection: close": {[]string{ok, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", ok}, []string{"200 ", "200 ", "0 closed: the server closed the connection after the previous answer"}},
		"HTTP/1.0":          {[]string{"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", ok}, []string{"200 ", "0 closed: the server closed", "0 closed: the server closed"}},
		"the end, unannounced": {[]string{ok},
			[]string{"200 ", "0 closed: ", "0 closed: an earlier request over this connection failed"}},
	} {
		t.Run(name, func(t *testing.T) {
			to, connections := counting(t, c.answers...)
			for i, e := range several(t, to, request) {
				got := show(e)
				if !strings.HasPrefix(got, c.want[i]) {
					t.Errorf("%d: %s, want %s", i+1, got, c.want[i])
				}
			}
			if n := connections.Load(); n != 1 {
				t.Errorf("%d connections", n)
			}
		})
	}
	to, connections := counting(t, ok, ok, ok)
	several(t, to, behave.Request{Request: request.Request, Times: 3})
	if n := connections.Load(); n != 3 {
		t.Errorf("without keep-alive: %d connections for 3 requests", n)
	}
}

// A request's body that the server did not read stays out of the next request.
func TestKeepAliveAfterARefusedBody(t *testing.T) {
	to, _ := counting(t, "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n", ok)
	all := several(t, to, behave.Request{
		Request: "POST http://a.example/", Body: "text", Headers: map[string]behave.Values{"Expect": {"100-continue"}}, Times: 2, KeepAlive: true,
	})
	if all[0].Status != 417 || show(all[1]) != "0 closed: the server answered the previous request before it had read it" {
		t.Errorf("%s; %s", show(all[0]), show(all[1]))
	}
}

// All requests are there before any is answered.
func TestTogether(t *testing.T) {
	const n = 20
	var there sync.WaitGroup
	there.Add(n)
	to := Target{HTTP: serve(t, anyPort, func(c net.Conn) {
		readRequestHead(bufio.NewReader(c))
		there.Done()
		there.Wait()
		io.WriteString(c, ok)
	})}
	for _, e := range several(t, to, behave.Request{Request: "GET http://a.example/", Times: n, Together: true}) {
		if e.Status != 200 {
			t.Errorf("%+v", e)
		}
	}
	to.HTTP = serve(t, anyPort, func(net.Conn) {})
	to.HTTP6 = netip.AddrPort{}
	_, err := Send(t.Context(), to, behave.Request{Request: "GET http://a.example/", Times: 3, Together: true, From: "192.0.2.1"})
	if err == nil || !strings.Contains(err.Error(), "cannot assign") {
		t.Errorf("%v", err)
	}
}

// Took does not include the opening of the connection.
func TestTook(t *testing.T) {
	const wait = 100 * time.Millisecond
	to := slowTLS(t, wait)
	begin := time.Now()
	e := one(t, to, behave.Request{Request: "GET https://a.example/"})
	if all := time.Since(begin); e.Status != 200 || e.Took <= 0 || all-e.Took < wait {
		t.Errorf("%s took %v of %v, with a handshake of %v before", show(e), e.Took, all, wait)
	}
}
