package backend

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// A pod that speaks UDP answers a request in a datagram as its script says, and records it.
func TestDatagrams(t *testing.T) {
	f := recording(t)
	p := scripted(t, f, Script{Protocol: UDP, Rules: []Rule{{Path: "/teapot", Answer: Answer{Status: 418, Body: []byte("short")}}}})
	answer := func(text string, wait time.Duration) (*http.Response, string) {
		conn, err := net.Dial("udp", p.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		io.WriteString(conn, text)
		conn.SetReadDeadline(time.Now().Add(wait))
		answer, err := http.ReadResponse(bufio.NewReaderSize(conn, maxDatagram), nil)
		if err != nil {
			return nil, err.Error()
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer, string(body)
	}
	var got *http.Response
	var body string
	for range 100 { // the pod listens soon after it is ready
		if got, body = answer("POST /teapot HTTP/1.1\r\nHost: any.example\r\nContent-Length: 2\r\n\r\nhi", time.Second); got != nil {
			break
		}
	}
	if got == nil || got.StatusCode != 418 || body != "short" || got.Header.Get(ServiceHeader) != "demo/web" {
		t.Fatalf("answer %v, body %q", got, body)
	}
	records, err := f.Received(0)
	if err != nil || len(records) != 1 || records[0].Path != "/teapot" || string(records[0].Body) != "hi" || !records[0].Done {
		t.Errorf("records %+v with error %v", records, err)
	}
	if got, err := answer("no request\r\n\r\n", 50*time.Millisecond); got != nil || !strings.Contains(err, "timeout") {
		t.Errorf("answer %v with error %v to what is not a request, want none", got, err)
	}
}
