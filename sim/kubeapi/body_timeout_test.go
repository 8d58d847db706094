package kubeapi

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The server gives up a body that does not arrive: the client gets an answer or at least a closed
// connection, whether or not the handler reads the body.
func TestSlowBodiesTimeOut(t *testing.T) {
	t.Parallel()
	s := startHasty(t)
	for name, head := range map[string]string{
		"create":         "POST " + cmPath + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
		"chunks":         "POST " + cmPath + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n",
		"patch":          "PATCH " + cmPath + "/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/merge-patch+json\r\nContent-Length: 100\r\n\r\n{",
		"delete":         "DELETE " + cmPath + "/a HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
		"unread":         "GET /readyz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
		"of a stranger":  "POST " + cmPath + " HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 100\r\n\r\n{",
		"of an odd path": "POST //api HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
	} {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprint(name, " TLS=", secure), func(t *testing.T) {
				t.Parallel()
				conn := dialed(t, s, secure)
				if _, err := io.WriteString(conn, head); err != nil {
					t.Fatal(err)
				}
				answer, err := io.ReadAll(conn) // until the server closes
				if err != nil {
					t.Fatal("the server did not close the connection: ", err)
				}
				if name == "create" && !strings.Contains(string(answer), "504 Gateway Timeout") {
					t.Errorf("response %s", answer)
				}
			})
		}
	}
}

// startHasty starts a server with a short time limit for bodies.
func startHasty(t *testing.T) *Server {
	s, err := newServer(Options{Anonymous: true})
	if err != nil {
		t.Fatal(err)
	}
	s.bodyWithin = 300 * time.Millisecond
	if err := s.listen(Options{HTTP: "127.0.0.1:0", HTTPS: "127.0.0.1:0"}); err != nil {
		t.Fatal(err)
	}
	for _, e := range s.endpoints() {
		e.serve(s.newHTTPServer())
	}
	closeLater(t, s)
	return s
}

// dialed returns a connection for HTTP/1.1 that gives up after a while.
func dialed(t *testing.T, s *Server, secure bool) net.Conn {
	t.Helper()
	address, dial := strings.TrimPrefix(s.URL(), "http://"), net.Dial
	if secure {
		address = strings.TrimPrefix(s.TLSURL(), "https://")
		dial = func(network, address string) (net.Conn, error) {
			return tls.Dial(network, address, &tls.Config{InsecureSkipVerify: true})
		}
	}
	conn, err := dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	return conn
}

// The time limit for bodies does not apply to answers: a watch, even one with a body, and a request that
// waits after its body outlast the limit.
func TestLongResponsesDoNotTimeOut(t *testing.T) {
	t.Parallel()
	s := startHasty(t)
	for _, url := range []string{s.URL(), s.TLSURL()} {
		config := s.Config()
		if url == s.TLSURL() {
			config = s.TLSConfig()
		}
		c := client(t, config)
		w, err := c.CoreV1().ConfigMaps("").Watch(t.Context(), metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Stop()
		withBody, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+cmPath+"?watch=1&resourceVersion=1", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(withBody)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		<-time.After(2 * s.bodyWithin) // long enough for the timeout to fire, which it must not
		name := "over-" + strings.Split(url, ":")[0]
		if _, err := c.CoreV1().ConfigMaps("default").Create(t.Context(), configMap(name, "1"), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if e := <-w.ResultChan(); e.Object.(metav1.Object).GetName() == "" {
			t.Errorf("event %v", e)
		}
		if n, err := resp.Body.Read(make([]byte, 1)); n == 0 {
			t.Errorf("a watch with a body ended: %v", err)
		}
	}
}
