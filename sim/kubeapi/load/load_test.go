package load

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// Every PUT is a complete slice that differs from the one before, whatever the answer's length.
func TestPutter(t *testing.T) {
	for _, mediaType := range []string{JSON, Protobuf} {
		var got []*discoveryv1.EndpointSlice
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			body, err := io.ReadAll(req.Body)
			if err != nil || req.Header.Get("Content-Type") != mediaType || req.Header.Get("Authorization") != "Bearer secret" ||
				req.URL.Path != "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/web" {
				t.Errorf("got %s %v, %v", req.URL, req.Header, err)
			}
			obj, err := runtime.Decode(scheme.Codecs.UniversalDeserializer(), body)
			if err != nil {
				t.Error(err)
				return
			}
			if got = append(got, obj.(*discoveryv1.EndpointSlice)); len(got) == 3 {
				w.WriteHeader(http.StatusConflict)
			}
			if len(got) == 2 {
				http.NewResponseController(w).Flush() // an answer without Content-Length
			}
			w.Write([]byte(strings.Repeat("x", len(got))))
		}))
		t.Cleanup(server.Close)
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		p, err := NewPutter(conn, Slice("default", "web", 2), mediaType, "secret")
		if err != nil {
			t.Fatal(err)
		}
		for n := range int64(2) {
			if err := p.Put(n); err != nil {
				t.Fatal(err)
			}
		}
		if a, b := *got[0].Endpoints[0].NodeName, *got[1].Endpoints[0].NodeName; a != "node-0000000000" || b != "node-0000000001" {
			t.Errorf("%s: nodes %s, %s", mediaType, a, b)
		}
		if err := p.Put(2); err == nil || !strings.Contains(err.Error(), "409") {
			t.Errorf("%s: a conflict is %v", mediaType, err)
		}
	}
}

// A Watcher counts the events of chunks, some of which are slightly longer than the first.
func TestWatcher(t *testing.T) {
	event := func(size int) string {
		return string([]byte{0, 0, byte(size >> 8), byte(size)}) + strings.Repeat("x", size)
	}
	for name, test := range map[string]struct {
		status string
		body   string
		want   string // part of the error; empty: no error
	}{
		"events":        {"200 OK", chunked(event(1000), event(1000)+event(1001), event(1001)+event(1001)+event(1002)), ""},
		"too few":       {"200 OK", chunked(event(1000)), "ended 5 events early"},
		"part of one":   {"200 OK", chunked(event(1000), event(1000)[:700]), "not of whole events"},
		"cut off":       {"200 OK", chunked(event(1000))[:700], "the connection ended: unexpected EOF"},
		"not a success": {"410 Gone", chunked(), "410"},
	} {
		t.Run(name, func(t *testing.T) {
			conn := answering(t, test.status, test.body)
			w, err := NewWatcher(conn, "7", "")
			if err == nil {
				err = w.Skip(6)
			}
			if got := fmt.Sprint(err); (err == nil) != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("Skip = %v, want %q", err, test.want)
			}
		})
	}
}

// chunked encodes a body in these chunks.
func chunked(chunks ...string) (body string) {
	for _, chunk := range append(chunks, "") {
		body += fmt.Sprintf("%x\r\n%s\r\n", len(chunk), chunk)
	}
	return body
}

// answering returns a connection on which the first request is answered with this chunked body.
func answering(t *testing.T, status, body string) *net.TCPConn {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		if req, err := http.ReadRequest(bufio.NewReader(conn)); err != nil || req.URL.Query().Get("resourceVersion") != "7" {
			t.Error(req, err)
		}
		fmt.Fprintf(conn, "HTTP/1.1 %s\r\nTransfer-Encoding: chunked\r\n\r\n%s", status, body)
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn.(*net.TCPConn)
}
