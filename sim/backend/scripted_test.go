package backend

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"windtunnel.dev/internal/pki"
)

// sumOfABC is the SHA-256 of abc (FIPS 180-2, B.1).
const sumOfABC = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

// recording returns a fleet that keeps 100 records.
func recording(t *testing.T) *Loopback {
	t.Helper()
	f := newFleet(t, nil)
	f.Record(100)
	return f
}

func scripted(t *testing.T, f *Loopback, s Script) Pod {
	t.Helper()
	p, err := f.StartScripted("demo/web-1", "demo/web", s)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Ready(); err != nil {
		t.Fatal(err)
	}
	return p
}

// received waits until the pods are done with n requests, and returns their records.
func received(t *testing.T, f *Loopback, n int) []Received {
	t.Helper()
	return receivedThat(t, f, n, func(r Received) bool { return r.Done })
}

// receivedThat waits until there are n such records, and returns all.
func receivedThat(t *testing.T, f *Loopback, n int, such func(Received) bool) []Received {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		all, _ := f.Received(0)
		found := 0
		for _, r := range all {
			if such(r) {
				found++
			}
		}
		if found >= n {
			return all
		}
		if time.Now().After(end) {
			t.Fatalf("%d of %d such records: %+v", found, n, all)
		}
	}
}

// fetch sends a request over its own connection and reads the whole answer.
func fetch(t *testing.T, method, url, body string, headers http.Header) (*http.Response, string) {
	t.Helper()
	response, text, err := tryFetch(t, method, url, body, headers)
	if err != nil {
		t.Fatal(err)
	}
	return response, text
}

func tryFetch(t *testing.T, method, url, body string, headers http.Header) (*http.Response, string, error) {
	t.Helper()
	request, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if headers != nil {
		request.Header = headers
	}
	client := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true, DisableCompression: true,
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}}
	response, err := client.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response, string(text), err
}

func described(t *testing.T, text string) Description {
	t.Helper()
	var d Description
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return d
}

// raw writes a text to the pod and returns what it answers until it closes the connection.
func raw(t *testing.T, at netip.AddrPort, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", at.String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, request)
	answer, err := io.ReadAll(conn)
	if err != nil && !errors.Is(err, syscall.ECONNRESET) { // the pod may close what it has not read
		t.Fatal(err)
	}
	return string(answer)
}

// A request is described and recorded as it was on the wire.
func TestRequestIsRecordedAsOnTheWire(t *testing.T) {
	f := recording(t)
	p := scripted(t, f, Script{})
	answer := raw(t, p.Addr(), "POST //a/../%2F%7e?x=1&x=%20 HTTP/1.0\r\nHost: Web.Example:81\r\nx-twice: 1\r\nX-Twice: 2\r\nx_y: z\r\nContent-Length: 3\r\n\r\nabc")
	_, body, _ := strings.Cut(answer, "\r\n\r\n")
	headers := http.Header{"X-Twice": {"1", "2"}, "X_y": {"z"}, "Content-Length": {"3"}}
	want := Description{
		Identity: Identity{Pod: "demo/web-1", Service: "demo/web", State: Ready, Body: sumOfABC},
		Method:   "POST", Path: "//a/../%2F%7e?x=1&x=%20", Host: "Web.Example:81", Protocol: "HTTP/1.0", Headers: headers, Request: 1,
	}
	if diff := cmp.Diff(want, described(t, body)); diff != "" {
		t.Errorf("description (-want +got):\n%s", diff)
	}
	if who, err := ParseIdentity([]byte(body)); err != nil || who != want.Identity {
		t.Errorf("identity: %+v, %v", who, err)
	}
	got := received(t, f, 1)[0]
	if since := time.Since(got.At); since < 0 || since > time.Minute {
		t.Errorf("arrived %v ago", since)
	}
	got.At = time.Time{}
	if diff := cmp.Diff(Received{
		Seq: 1, Number: 1, Service: "demo/web", Pod: "demo/web-1", Port: int(p.Addr().Port()), Nth: 1,
		Method: "POST", Path: want.Path, Host: want.Host, Protocol: "HTTP/1.0", Headers: headers,
		Body: []byte("abc"), Length: 3, Complete: true, Done: true,
	}, got); diff != "" {
		t.Errorf("record (-want +got):\n%s", diff)
	}
	if !strings.Contains(answer, "\r\nX-Windtunnel-Request: 1\r\n") {
		t.Errorf("answer: %s", answer)
	}
}

func TestChunkedRequest(t *testing.T) {
	f := recording(t)
	p := scripted(t, f, Script{})
	raw(t, p.Addr(), "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")
	got := received(t, f, 1)[0]
	if string(got.Body) != "abc" || got.Headers.Get("Transfer-Encoding") != "chunked" || got.Protocol != "HTTP/1.1" || !got.Complete {
		t.Errorf("%+v", got)
	}
}

func TestAnswersByRule(t *testing.T) {
	f := newFleet(t, nil)
	hello := []byte("hello\xff")
	p := scripted(t, f, Script{
		Answer: Answer{Status: 404, Body: []byte{}},
		Rules: []Rule{
			{Path: "/a", First: 2, Answer: Answer{Status: 503}},
			{Path: "/a", Method: "POST", Answer: Answer{Status: 201, Body: hello, Headers: map[string][]string{
				"set-cookie": {"a=1", "b=2"}, "X-Windtunnel-Pod": {"another"}, "Date": nil, "Content-Type": {"text/x"}}}},
			{Path: "/a/", Answer: Answer{Bytes: 100_000}},
			{Path: "/empty", Answer: Answer{Status: 204}},
			{Path: "/chunked", Answer: Answer{Body: hello, Headers: map[string][]string{"Transfer-Encoding": {"chunked"}}}},
		},
	})
	at := "http://" + p.Addr().String()
	for i, want := range []struct {
		method, path string
		status       int
		length       int64
	}{
		{"GET", "/a", 503, -2}, {"POST", "/a", 503, -2}, {"POST", "/a", 201, 6}, {"GET", "/a", 404, 0}, {"GET", "/a/b", 200, 100_000},
		{"HEAD", "/a/b", 200, 100_000}, {"GET", "/empty", 204, 0}, {"GET", "/chunked", 200, -1}, {"GET", "/", 404, 0},
	} {
		response, body := fetch(t, want.method, at+want.path, "", nil)
		if response.StatusCode != want.status || want.length != -2 && response.ContentLength != want.length {
			t.Errorf("%d: %s %s: %d, length %d; want %d, %d", i+1, want.method, want.path, response.StatusCode, response.ContentLength, want.status, want.length)
		}
		if pod := response.Header.Values(PodHeader); !cmp.Equal(pod, []string{"demo/web-1"}) || response.Header.Get(RequestHeader) != "" {
			t.Errorf("%d: %s %s: headers %v", i+1, want.method, want.path, response.Header)
		}
		switch {
		case want.status == 503 && described(t, body).Method != want.method:
			t.Errorf("%d: no description: %s", i+1, body)
		case want.status == 201:
			h := response.Header
			if body != string(hello) || !cmp.Equal(h.Values("Set-Cookie"), []string{"a=1", "b=2"}) || h.Get("Date") != "" || h.Get("Content-Type") != "text/x" {
				t.Errorf("%q, %v", body, h)
			}
		}
	}
}

func TestBreaks(t *testing.T) {
	for protocol, scheme := range map[Protocol]string{HTTP: "http", HTTPS: "https"} {
		f := recording(t)
		p := scripted(t, f, Script{Protocol: protocol, Rules: []Rule{
			{Path: "/close", Answer: Answer{Break: Close}}, {Path: "/reset", Answer: Answer{Break: Reset}}}})
		at := scheme + "://" + p.Addr().String()
		if _, _, err := tryFetch(t, "POST", at+"/close", "abc", nil); !errors.Is(err, io.EOF) && (err == nil || !strings.Contains(err.Error(), "EOF")) {
			t.Errorf("%s: close: %v", protocol, err)
		}
		if _, _, err := tryFetch(t, "POST", at+"/reset", "abc", nil); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%s: reset: %v", protocol, err)
		}
		if response, _ := fetch(t, "GET", at+"/", "", nil); response.StatusCode != 200 || response.Header.Get(RequestHeader) != "3" {
			t.Errorf("%s: afterwards: %v", protocol, response)
		}
		for i, want := range []string{"the script breaks the connection: close", "the script breaks the connection: reset", ""} {
			if got := received(t, f, 3)[i]; got.Failure != want || i < 2 && (string(got.Body) != "abc" || !got.Complete) {
				t.Errorf("%s: %+v, want %q", protocol, got, want)
			}
		}
	}
}

// A delay is exact, and is not waited for if the client goes.
func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script, err := Script{Answer: Answer{After: 90 * time.Second}}.compile()
		if err != nil {
			t.Fatal(err)
		}
		p, records := newPod(podContext{}, "demo/web-1", "demo/web", netip.AddrPort{}), NewRecording(9, 0)
		p.assign(script, records)
		w, begin := httptest.NewRecorder(), time.Now()
		p.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		if took := time.Since(begin); took != 90*time.Second || w.Code != 200 {
			t.Errorf("%d after %v", w.Code, took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		func() {
			defer func() { recover() }()
			p.ServeHTTP(w, httptest.NewRequest("GET", "/", nil).WithContext(ctx))
			t.Error("answered a client that had gone")
		}()
		if got := records.Received(1)[0]; time.Since(begin) != 91*time.Second || !got.Done || got.Failure != "the client or the pod has gone before the answer" {
			t.Errorf("after %v: %+v", time.Since(begin), got)
		}
	})
}

// A body that ends early is recorded as far as it came, before and after it ends.
func TestAbortedBody(t *testing.T) {
	f := recording(t)
	p := scripted(t, f, Script{})
	conn := dial(t, p)
	fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
	for {
		if got, _ := f.Received(0); len(got) == 1 && got[0].Length == 3 {
			if got[0].Complete || got[0].Done || string(got[0].Body) != "abc" || got[0].Failure != "" {
				t.Errorf("while it comes: %+v", got[0])
			}
			break
		}
		time.Sleep(time.Millisecond)
	}
	conn.Close()
	if got := received(t, f, 1)[0]; got.Complete || got.Length != 3 || got.Failure != "the body ended early: unexpected EOF" {
		t.Errorf("%+v", got)
	}
}

// A request that the end of its pod cuts is recorded as well.
func TestRequestsOfAPodThatDies(t *testing.T) {
	f := recording(t)
	p := scripted(t, f, Script{Answer: Answer{After: time.Minute}})
	conn := dial(t, p)
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	for got, _ := f.Received(0); len(got) == 0 || !got[0].Complete; got, _ = f.Received(0) {
		time.Sleep(time.Millisecond)
	}
	f.Stop()
	if got := received(t, f, 1)[0]; !got.Complete || got.Failure != "the client or the pod has gone before the answer" {
		t.Errorf("%+v", got)
	}
}

func TestRecordingDropsOldBodies(t *testing.T) {
	f := newFleet(t, nil)
	f.Record(MaxBodies)
	p := ready(t, f, "demo/web-1")
	const fit = MaxBodies / MaxBody
	for range fit + 2 {
		post(t, p, strings.Repeat("x", MaxBody))
	}
	for n, got := range received(t, f, fit+2) {
		want := MaxBody
		if n < 2 {
			want = 0
		}
		if len(got.Body) != want || got.Length != MaxBody || !got.Complete {
			t.Errorf("record %d has %d of %d bytes, want %d", n, len(got.Body), got.Length, want)
		}
	}
}

func TestRecordingBounds(t *testing.T) {
	f := newFleet(t, nil)
	f.Record(3)
	p := ready(t, f, "demo/web-1") // a pod without a script records as well
	post(t, p, strings.Repeat("x", MaxBody+5))
	if got := received(t, f, 1)[0]; len(got.Body) != MaxBody || got.Length != MaxBody+5 || !got.Complete {
		t.Errorf("%d of %d bytes, complete: %t", len(got.Body), got.Length, got.Complete)
	}
	for range 4 {
		response, _ := post(t, p, "")
		if _, err := strconv.Atoi(response.Header.Get(RequestHeader)); err != nil {
			t.Error(err)
		}
	}
	for since, want := range map[int][]int{-1: {3, 4, 5}, 0: {3, 4, 5}, 2: {3, 4, 5}, 3: {4, 5}, 4: {5}, 5: nil, 9: nil} {
		all, _ := f.Received(since)
		var got []int
		for _, r := range all {
			got = append(got, r.Number)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("since %d (-want +got):\n%s", since, diff)
		}
	}
}

func TestSeveralPorts(t *testing.T) {
	f := recording(t)
	more := freePort(t)
	p := scripted(t, f, Script{Ports: []int{more}})
	other := netip.AddrPortFrom(p.Addr().Addr(), uint16(more))
	for _, at := range []netip.AddrPort{p.Addr(), other} {
		fetch(t, "GET", "http://"+at.String(), "", nil)
	}
	got := received(t, f, 2)
	if got[0].Port != int(p.Addr().Port()) || got[1].Port != more {
		t.Errorf("ports %d and %d", got[0].Port, got[1].Port)
	}
	if _, err := f.StartScripted("demo/web-2", "demo/web", Script{Ports: []int{more, more}}); err == nil {
		t.Error("one port twice")
	}
	busy, err := f.StartScripted("demo/web-3", "demo/web", Script{Ports: []int{more, int(p.Addr().Port())}})
	if err != nil {
		t.Fatal(err)
	}
	if err := busy.Ready(); !errors.Is(err, syscall.EADDRINUSE) || busy.State() != Starting {
		t.Errorf("a port that is the pod's own: %v", err)
	}
	mustRefuse(t, busy)
	p.Gone()
	if _, err := net.Dial("tcp", other.String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("the second port of a pod that is gone: %v", err)
	}
}

func TestHTTPS(t *testing.T) {
	authority, others := pki.New("clients"), pki.New("others")
	server, mine, foreign := authority.Issue("pod", []string{"pod.example"}), authority.Issue("me", nil), others.Issue("them", nil)
	roots := x509.NewCertPool()
	roots.AddCert(authority.Certificate)
	plain := Script{Protocol: HTTPS, Certificate: string(server.Certificate), Key: string(server.Key)}
	strict := plain
	strict.ClientCA = string(authority.PEM)
	for name, test := range map[string]struct {
		script  Script
		client  *pki.Pair
		next    []string
		subject string
		refused bool
	}{
		"no certificate":           {plain, nil, nil, "", false},
		"a certificate, over h2":   {plain, &foreign, []string{"h2"}, "CN=them", false},
		"the right certificate":    {strict, &mine, nil, "CN=me", false},
		"the wrong certificate":    {strict, &foreign, nil, "", true},
		"a missing certificate":    {strict, nil, nil, "", true},
		"both protocols are there": {plain, nil, []string{"http/1.1"}, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			f := recording(t)
			p := scripted(t, f, test.script)
			config := &tls.Config{RootCAs: roots, ServerName: "pod.example", MaxVersion: tls.VersionTLS12, NextProtos: test.next}
			if test.client != nil {
				pair, err := tls.X509KeyPair(test.client.Certificate, test.client.Key)
				if err != nil {
					t.Fatal(err)
				}
				// Go sends no certificate that does not fit the server's authorities.
				config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
			}
			protocols := new(http.Protocols)
			h2 := len(test.next) > 0 && test.next[0] == "h2"
			protocols.SetHTTP2(h2)
			protocols.SetHTTP1(!h2)
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true, Protocols: protocols}}
			response, err := client.Get("https://" + p.Addr().String() + "/x")
			if test.refused {
				if err == nil {
					t.Error("the client was let in")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			got := received(t, f, 1)[0]
			want := map[bool]string{true: "HTTP/2.0", false: "HTTP/1.1"}[h2]
			if got.Protocol != want || got.SNI != "pod.example" || got.ClientCertificate != test.subject || got.TLSVersion != "TLS 1.2" || !strings.HasPrefix(got.TLSCipher, "TLS_ECDHE") {
				t.Errorf("%+v", got)
			}
		})
	}
}

func TestGRPC(t *testing.T) {
	for protocol, creds := range map[Protocol]credentials.TransportCredentials{
		GRPC:  insecure.NewCredentials(),
		GRPCS: credentials.NewTLS(&tls.Config{InsecureSkipVerify: true}),
	} {
		t.Run(string(protocol), func(t *testing.T) {
			f := recording(t)
			p := scripted(t, f, Script{Protocol: protocol, Answer: Answer{Headers: map[string][]string{"x-more": {"1"}}}, Rules: []Rule{
				{Path: "/shop.Cart/Down", Answer: Answer{Status: 503, Body: []byte("down")}},
				{Path: "/shop.Cart/Cut", Answer: Answer{Break: Reset}},
				{Path: "/shop.Cart/None", Answer: Answer{Body: []byte{}, Headers: map[string][]string{"content-type": {"application/grpc"}, "grpc-status": {"5"}}}},
			}})
			c, err := grpc.NewClient("passthrough:///"+p.Addr().String(), grpc.WithTransportCredentials(creds))
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			ctx := metadata.AppendToOutgoingContext(t.Context(), "x-mine", "a", "x-mine", "b")
			for i, method := range []string{"/shop.Cart/Add", AskMethod} {
				var answer wrapperspb.StringValue
				var header metadata.MD
				if err := c.Invoke(ctx, method, wrapperspb.Bytes([]byte("abc")), &answer, grpc.Header(&header)); err != nil {
					t.Fatal(err)
				}
				d := described(t, answer.GetValue())
				if d.Body != sumOfABC || d.Path != method || d.Pod != "demo/web-1" || d.Request != i+1 || !cmp.Equal(d.Headers["X-Mine"], []string{"a", "b"}) {
					t.Errorf("%+v", d)
				}
				if !cmp.Equal(header.Get(RequestHeader), []string{strconv.Itoa(i + 1)}) || !cmp.Equal(header.Get("x-more"), []string{"1"}) || !cmp.Equal(header.Get(PodHeader), []string{"demo/web-1"}) {
					t.Errorf("headers %v", header)
				}
			}
			for method, want := range map[string]codes.Code{"/shop.Cart/Down": codes.Unavailable, "/shop.Cart/Cut": codes.Unavailable, "/shop.Cart/None": codes.NotFound} {
				if err := c.Invoke(ctx, method, wrapperspb.Bytes(nil), new(wrapperspb.StringValue)); status.Code(err) != want {
					t.Errorf("%s: %v", method, err)
				}
			}
			got := received(t, f, 5)[0]
			if got.GRPC != "/shop.Cart/Add" || got.Protocol != "HTTP/2.0" || !got.Complete || !bytes.HasSuffix(got.Body, []byte("abc")) {
				t.Errorf("%+v", got)
			}
			stream, err := c.NewStream(metadata.AppendToOutgoingContext(t.Context(), EventsHeader, "2"), &grpc.StreamDesc{ServerStreams: true}, WatchMethod)
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(stream.SendMsg(wrapperspb.Bytes(nil)), stream.CloseSend()); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if err := stream.RecvMsg(new(wrapperspb.StringValue)); err != nil {
					t.Error(err)
				}
			}
			if err := stream.RecvMsg(new(wrapperspb.StringValue)); !errors.Is(err, io.EOF) {
				t.Error(err)
			}
		})
	}
}

// A pod with a script speaks its protocol only.
func TestOtherProtocolsAreNotSpoken(t *testing.T) {
	f := recording(t)
	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"
	plain, _ := f.StartScripted("demo/http", "demo/web", Script{})
	calls, _ := f.StartScripted("demo/grpc", "demo/web", Script{Protocol: GRPC})
	for _, p := range []Pod{plain, calls} {
		if err := p.Ready(); err != nil {
			t.Fatal(err)
		}
	}
	if answer := raw(t, calls.Addr(), "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); strings.Contains(answer, "200") {
		t.Errorf("a gRPC pod answers HTTP/1.1: %q", answer)
	}
	if answer := raw(t, plain.Addr(), preface); !strings.HasPrefix(answer, "HTTP/1.1 4") && !strings.HasPrefix(answer, "HTTP/1.1 5") {
		t.Errorf("an HTTP pod answers HTTP/2: %q", answer)
	}
	if got, _ := f.Received(0); len(got) > 0 {
		t.Errorf("%+v", got)
	}
}

func TestWebSocketsOfScripts(t *testing.T) {
	f := recording(t)
	p := scripted(t, f, Script{Rules: []Rule{{Path: "/no", Answer: Answer{Status: 403}}}})
	at := "ws://" + p.Addr().String()
	c, response, err := websocket.Dial(t.Context(), at+"/chat", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	if err := c.Write(t.Context(), websocket.MessageText, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, message, err := c.Read(t.Context()); err != nil || string(message) != "hello" {
		t.Errorf("%q, %v", message, err)
	}
	if response.Header.Get(RequestHeader) != "1" || response.Header.Get(PodHeader) != "demo/web-1" {
		t.Errorf("%v", response.Header)
	}
	c.CloseNow()
	if got := received(t, f, 1)[0]; !got.WebSocket || got.Path != "/chat" {
		t.Errorf("%+v", got)
	}
	if _, response, err := websocket.Dial(t.Context(), at+"/no", nil); err == nil || response.StatusCode != 403 {
		t.Errorf("%v, %v", response, err)
	}
}

func TestScriptsThatAreNotValid(t *testing.T) {
	pair := pki.New("x").Issue("x", nil)
	for want, s := range map[string]Script{
		`no pod speaks "smtp"`:              {Protocol: "smtp"},
		"port 0 is not valid":               {Ports: []int{0}},
		"status 100":                        {Answer: Answer{Status: 100}},
		"rule 1: status 600":                {Rules: []Rule{{Answer: Answer{Status: 600}}}},
		"rule 1: first is negative":         {Rules: []Rule{{First: -1}}},
		"generated bytes":                   {Answer: Answer{Bytes: 1 << 40}},
		"not both":                          {Answer: Answer{Bytes: 1, Body: []byte{}}},
		"a delay of -1ns":                   {Answer: Answer{After: -1}},
		`break "off"`:                       {Answer: Answer{Break: "off"}},
		`"a b" is not the name of a header`: {Answer: Answer{Headers: map[string][]string{"a b": nil}}},
		`header X: "\n" is not the value`:   {Answer: Answer{Headers: map[string][]string{"X": {"\n"}}}},
		"speaks http has no certificates":   {Certificate: string(pair.Certificate)},
		"certificate: tls:":                 {Protocol: HTTPS, Certificate: string(pair.Certificate)},
		"clientCA has no certificate":       {Protocol: GRPCS, ClientCA: "x"},
	} {
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A script is the same after it was sent as JSON.
func TestScriptAsJSON(t *testing.T) {
	for _, script := range []Script{
		{Protocol: GRPC, Answer: Answer{Status: 201, Body: []byte("\xff"), After: time.Second}, Ports: []int{1}, Rules: []Rule{{Path: "/x", Answer: Answer{Break: Reset, Headers: map[string][]string{"Date": nil}}}}},
		{Answer: Answer{Body: []byte{}}}, {},
	} {
		text, err := json.Marshal(script)
		if err != nil {
			t.Fatal(err)
		}
		var got Script
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(script, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// A pod that is asked to end gives its last answer, and records it.
func TestScriptedPodGivesItsLastAnswer(t *testing.T) {
	f := recording(t)
	p := scripted(t, f, Script{})
	conn := dial(t, p)
	fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n")
	reader := bufio.NewReader(conn)
	for range 2 {
		if _, err := reader.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
	}
	go p.Gone()
	for p.State() != Gone {
		time.Sleep(time.Millisecond)
	}
	fmt.Fprint(conn, "abc")
	if response, err := http.ReadResponse(reader, nil); err != nil || response.StatusCode != 200 {
		t.Errorf("%v, %v", response, err)
	}
	<-p.Done()
	if got := received(t, f, 1)[0]; got.Failure != "" || string(got.Body) != "abc" {
		t.Errorf("%+v", got)
	}
}
