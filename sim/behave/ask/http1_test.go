package ask

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/behave"
)

// lines joins the lines of a request's head.
func lines(all ...string) string { return strings.Join(all, "\r\n") + "\r\n\r\n" }

func TestRequestsOnTheWire(t *testing.T) {
	for name, test := range map[string]struct {
		request behave.Request
		want    string
	}{
		"defaults": {
			behave.Request{Request: "GET http://a.example/b?c=d"},
			lines("GET /b?c=d HTTP/1.1", "Host: a.example", "User-Agent: windtunnel", "Accept: */*"),
		},
		"a path as written": {
			behave.Request{Request: "GET http://a.example:8080//x/../%2F/./%7e%zz;p=1?q=%20&&?#f"},
			lines("GET //x/../%2F/./%7e%zz;p=1?q=%20&&?#f HTTP/1.1", "Host: a.example:8080", "User-Agent: windtunnel", "Accept: */*"),
		},
		"no path": {
			behave.Request{Request: "OPTIONS http://a.example?x"},
			lines("OPTIONS /?x HTTP/1.1", "Host: a.example", "User-Agent: windtunnel", "Accept: */*"),
		},
		"a method in lower case": {
			behave.Request{Request: "propfind http://a.example/"},
			lines("propfind / HTTP/1.1", "Host: a.example", "User-Agent: windtunnel", "Accept: */*"),
		},
		"headers": {
			behave.Request{Request: "GET http://a.example/", Headers: map[string]behave.Values{
				"x-lower": {"1"}, "X-MANY": {"b", "a", "b"}, "accept": {"text/html"}, "User-Agent": nil, "X_under": {""}, "HOST": {"b.example"},
			}},
			lines("GET / HTTP/1.1", "HOST: b.example", "X-MANY: b", "X-MANY: a", "X-MANY: b", "X_under: ", "accept: text/html", "x-lower: 1"),
		},
		"HTTP/1.0 without Host": {
			behave.Request{Request: "GET http://a.example/", HTTP: "1.0", Headers: map[string]behave.Values{"Host": nil, "Accept": nil}},
			lines("GET / HTTP/1.0", "User-Agent: windtunnel"),
		},
		"a body": {
			behave.Request{Request: "POST http://a.example/", Body: "text"},
			lines("POST / HTTP/1.1", "Host: a.example", "User-Agent: windtunnel", "Accept: */*", "Content-Length: 4") + "text",
		},
		"a generated body": {
			behave.Request{Request: "PUT http://a.example/", Bytes: 18},
			lines("PUT / HTTP/1.1", "Host: a.example", "User-Agent: windtunnel", "Accept: */*", "Content-Length: 18") + "0123456789abcdef01",
		},
		"a body of another length": {
			behave.Request{Request: "PUT http://a.example/", Body: "text", Headers: map[string]behave.Values{"Content-Length": {"3", "4"}}},
			lines("PUT / HTTP/1.1", "Host: a.example", "User-Agent: windtunnel", "Accept: */*", "Content-Length: 3", "Content-Length: 4") + "text",
		},
		"chunks": {
			behave.Request{Request: "POST http://a.example/", Body: "some text that is sent", Chunked: true},
			lines("POST / HTTP/1.1", "Host: a.example", "User-Agent: windtunnel", "Accept: */*", "Transfer-Encoding: chunked") + "16\r\nsome text that is sent\r\n0\r\n\r\n",
		},
		"no chunks": {
			behave.Request{Request: "POST http://a.example/", Chunked: true},
			lines("POST / HTTP/1.1", "Host: a.example", "User-Agent: windtunnel", "Accept: */*", "Transfer-Encoding: chunked") + "0\r\n\r\n",
		},
		"PROXY, version 1": {
			behave.Request{Request: "GET http://a.example/", Proxy: &behave.Proxy{Source: "203.0.113.7:1234", Destination: "192.0.2.1:80"}},
			"PROXY TCP4 203.0.113.7 192.0.2.1 1234 80\r\n" + lines("GET / HTTP/1.1", "Host: a.example", "User-Agent: windtunnel", "Accept: */*"),
		},
		"PROXY, version 1, IPv6": {
			behave.Request{Request: "GET http://a.example/", Proxy: &behave.Proxy{Version: 1, Source: "[2001:db8::7]:1234", Destination: "[2001:db8::1]:80"}},
			"PROXY TCP6 2001:db8::7 2001:db8::1 1234 80\r\n" + lines("GET / HTTP/1.1", "Host: a.example", "User-Agent: windtunnel", "Accept: */*"),
		},
		"PROXY, version 2": {
			behave.Request{Request: "GET http://a.example/", Proxy: &behave.Proxy{Version: 2, Source: "203.0.113.7:1234", Destination: "192.0.2.1:80"}},
			"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c\xcb\x00\x71\x07\xc0\x00\x02\x01\x04\xd2\x00\x50" +
				lines("GET / HTTP/1.1", "Host: a.example", "User-Agent: windtunnel", "Accept: */*"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := make(chan string, 1)
			to := Target{HTTP: serve(t, anyPort, func(c net.Conn) {
				request := make([]byte, len(test.want))
				n, _ := io.ReadFull(c, request)
				io.WriteString(c, ok)
				rest, _ := io.ReadAll(c)
				got <- string(request[:n]) + string(rest)
			})}
			test.request.Timeout = 5 * time.Second // reached if the client sends less than the server expects
			if e := one(t, to, test.request); e.Status != 200 || e.Failure != "" {
				t.Errorf("%+v", e)
			}
			if request := <-got; request != test.want {
				t.Errorf("sent\n%q, want\n%q", request, test.want)
			}
		})
	}
}

func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		answer string
		want   behave.Exchange // without Took
	}{
		"a length": {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nx-a: 1\r\nX-A: 2\r\n\r\ntextmore",
			behave.Exchange{Status: 200, Protocol: "HTTP/1.1", Header: http.Header{"Content-Length": {"4"}, "X-A": {"1", "2"}}, Body: []byte("text")}},
		"until the end": {"GET", "HTTP/1.0 404 Not Found\r\n\r\ntext",
			behave.Exchange{Status: 404, Protocol: "HTTP/1.0", Header: http.Header{}, Body: []byte("text")}},
		"chunks and a trailer": {"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-T: 1\r\n\r\n",
			behave.Exchange{Status: 200, Protocol: "HTTP/1.1", Header: http.Header{"Transfer-Encoding": {"chunked"}, "Trailer": {"X-T"}},
				Trailer: http.Header{"X-T": {"1"}}, Body: []byte("abcde")}},
		"a length that is there twice": {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
			behave.Exchange{Status: 200, Protocol: "HTTP/1.1", Header: http.Header{"Content-Length": {"1", "1"}}, Body: []byte("a")}},
		"Pragma alone": {"GET", "HTTP/1.1 200 OK\r\nPragma: no-cache\r\nContent-Length: 0\r\n\r\n",
			behave.Exchange{Status: 200, Protocol: "HTTP/1.1", Header: http.Header{"Pragma": {"no-cache"}, "Content-Length": {"0"}}}},
		"HEAD": {"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n",
			behave.Exchange{Status: 200, Protocol: "HTTP/1.1", Header: http.Header{"Content-Length": {"4"}}}},
		"HEAD, chunked": {"HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
			behave.Exchange{Status: 200, Protocol: "HTTP/1.1", Header: http.Header{"Transfer-Encoding": {"chunked"}}}},
		"204": {"GET", "HTTP/1.1 204 No Content\r\nX: y\r\n\r\n",
			behave.Exchange{Status: 204, Protocol: "HTTP/1.1", Header: http.Header{"X": {"y"}}}},
		"304 with a length": {"GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n",
			behave.Exchange{Status: 304, Protocol: "HTTP/1.1", Header: http.Header{"Content-Length": {"9"}}}},
		"a redirect is not followed": {"GET", "HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n",
			behave.Exchange{Status: 302, Protocol: "HTTP/1.1", Header: http.Header{"Location": {"/other"}, "Content-Length": {"0"}}}},
		"a compressed body": {"GET", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 2\r\n\r\n\x1f\x8b",
			behave.Exchange{Status: 200, Protocol: "HTTP/1.1", Header: http.Header{"Content-Encoding": {"gzip"}, "Content-Length": {"2"}}, Body: []byte("\x1f\x8b")}},
		"informational answers": {"GET", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n",
			behave.Exchange{Status: 201, Protocol: "HTTP/1.1", Header: http.Header{"Content-Length": {"0"}}}},
		"a long line": {"GET", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("a", 5000) + "\r\nContent-Length: 0\r\n\r\n",
			behave.Exchange{Status: 200, Protocol: "HTTP/1.1", Header: http.Header{"X": {strings.Repeat("a", 5000)}, "Content-Length": {"0"}}}},

		"nothing": {"GET", "", behave.Exchange{Failure: closed, Detail: "EOF"}},
		"half a header": {"GET", "HTTP/1.1 200 OK\r\nContent-Le",
			behave.Exchange{Failure: closed, Detail: "unexpected EOF"}},
		"half a body": {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nte",
			behave.Exchange{Failure: closed, Detail: "2 of 4 bytes of the body: unexpected EOF", Status: 200, Protocol: "HTTP/1.1",
				Header: http.Header{"Content-Length": {"4"}}, Body: []byte("te")}},
		"no last chunk": {"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nte\r\n",
			behave.Exchange{Failure: closed, Detail: "unexpected EOF", Status: 200, Protocol: "HTTP/1.1",
				Header: http.Header{"Transfer-Encoding": {"chunked"}}, Body: []byte("te")}},
		"half a trailer": {"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-T",
			behave.Exchange{Failure: closed, Detail: "unexpected EOF", Status: 200, Protocol: "HTTP/1.1",
				Header: http.Header{"Transfer-Encoding": {"chunked"}}, Body: []byte{}}},
		"no HTTP": {"GET", "SSH-2.0-OpenSSH\r\n\r\n",
			behave.Exchange{Failure: closed, Detail: `malformed answer: malformed HTTP response "SSH-2.0-OpenSSH"`}},
		"two lengths": {"GET", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
			behave.Exchange{Failure: closed, Detail: `malformed answer: http: message cannot contain multiple Content-Length headers; got ["1" "2"]`}},
		"an endless header": {"GET", "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("a", maxHead) + "\r\n\r\n",
			behave.Exchange{Failure: closed, Detail: "malformed answer: more than 1048576 bytes of header"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := one(t, respond(t, c.answer), behave.Request{Request: c.method + " http://a.example/"})
			if got.Took <= 0 {
				t.Errorf("took %v", got.Took)
			}
			got.Took = 0
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("%+v, want\n%+v", got, c.want)
			}
		})
	}
}

func TestLargeBodies(t *testing.T) {
	largest := respond(t, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", maxBody, strings.Repeat("a", maxBody)))
	if e := one(t, largest, behave.Request{Request: "GET http://a.example/"}); e.Failure != "" || len(e.Body) != maxBody {
		t.Errorf("%s %s, %d bytes", e.Failure, e.Detail, len(e.Body))
	}
	larger := respond(t, "HTTP/1.1 200 OK\r\n\r\n"+strings.Repeat("a", maxBody+1))
	_, err := Send(t.Context(), larger, behave.Request{Request: "GET http://a.example/", Timeout: patience})
	if err == nil || !strings.Contains(err.Error(), "GET http://a.example/: the body of the answer is larger than 16 MiB") {
		t.Errorf("%v", err)
	}
}

// The client reads while it sends, so it receives an answer that comes before the whole body is sent.
func TestEarlyAnswer(t *testing.T) {
	answered := make(chan bool)
	to := Target{HTTP: serve(t, anyPort, func(c net.Conn) {
		readRequestHead(bufio.NewReader(c))
		io.WriteString(c, "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno")
		<-answered // the rest of the body is not read
	})}
	e := one(t, to, behave.Request{Request: "POST http://a.example/", Bytes: 64 << 20})
	close(answered)
	if e.Status != 413 || string(e.Body) != "no" || e.Failure != "" {
		t.Errorf("%+v", e)
	}
}

// A pause ends with the answer, and everything before the pause is sent by then.
func TestPause(t *testing.T) {
	const forever = time.Hour
	for name, c := range map[string]struct {
		pause behave.Pause
		first string // what the server receives before it answers
	}{
		"headers": {behave.Pause{Headers: forever}, strings.TrimSuffix(lines("POST / HTTP/1.1", "Host: a.example", "Content-Length: 4"), "\r\n")},
		"body":    {behave.Pause{Body: forever}, lines("POST / HTTP/1.1", "Host: a.example", "Content-Length: 4") + "te"},
	} {
		t.Run(name, func(t *testing.T) {
			got := make(chan string, 1)
			to := Target{HTTP: serve(t, anyPort, func(conn net.Conn) {
				first := make([]byte, len(c.first))
				io.ReadFull(conn, first)
				io.WriteString(conn, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
				got <- string(first)
			})}
			e := one(t, to, behave.Request{Request: "POST http://a.example/", Body: "text", Pause: c.pause, Headers: map[string]behave.Values{"User-Agent": nil, "Accept": nil}})
			if first := <-got; e.Status != 408 || first != c.first {
				t.Errorf("%+v, received %q, want %q", e, first, c.first)
			}
		})
	}
	t.Run("connected", func(t *testing.T) {
		const pause = 50 * time.Millisecond
		quiet := make(chan time.Duration, 1)
		to := Target{HTTP: serve(t, anyPort, func(conn net.Conn) {
			began := time.Now()
			readRequestHead(bufio.NewReader(conn))
			quiet <- time.Since(began)
			io.WriteString(conn, ok)
		})}
		e := one(t, to, behave.Request{Request: "GET http://a.example/", Pause: behave.Pause{Connected: pause}})
		if took := <-quiet; e.Status != 200 || took < pause/2 {
			t.Errorf("%+v, the first byte came after %v", e, took)
		}
	})
}

func TestExpectContinue(t *testing.T) {
	request := behave.Request{
		Request: "POST http://a.example/", Body: "text", Headers: map[string]behave.Values{"Expect": {"100-continue"}},
	}
	t.Run("the server asks for the body", func(t *testing.T) {
		bodies := make(chan string, 1)
		to := Target{HTTP: serve(t, anyPort, func(c net.Conn) {
			r := bufio.NewReader(c)
			readRequestHead(r)
			early := r.Buffered()
			io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n")
			body := make([]byte, 4)
			io.ReadFull(r, body)
			bodies <- fmt.Sprint(early, " ", string(body))
			io.WriteString(c, ok)
		})}
		e := one(t, to, request)
		if body := <-bodies; e.Status != 200 || body != "0 text" {
			t.Errorf("%+v, body %q", e, body)
		}
	})
	t.Run("the server refuses", func(t *testing.T) {
		rests := make(chan string, 1)
		to := Target{HTTP: serve(t, anyPort, func(c net.Conn) {
			r := bufio.NewReader(c)
			readRequestHead(r)
			io.WriteString(c, "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
			rest, _ := io.ReadAll(r)
			rests <- string(rest)
		})}
		e := one(t, to, request)
		if rest := <-rests; e.Status != 417 || rest != "" {
			t.Errorf("%+v, then the client sent %q", e, rest)
		}
	})
	t.Run("the server waits", func(t *testing.T) {
		to := Target{HTTP: serve(t, anyPort, func(c net.Conn) {
			r := bufio.NewReader(c)
			readRequestHead(r)
			io.ReadFull(r, make([]byte, 4))
			io.WriteString(c, ok)
		})}
		if e := one(t, to, request); e.Status != 200 || e.Took < continueDelay {
			t.Errorf("%+v", e)
		}
	})
}
