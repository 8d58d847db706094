package nginxtest_test

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/internal/tcptest"
)

func TestReloadTakesTheNewFile(t *testing.T) {
	address := nginxtest.FreeAddress(t)
	answers := func(body string) nginxtest.Conf {
		return nginxtest.Conf{HTTP: "server { listen " + address + "; return 200 " + body + "; }"}
	}
	n := nginxtest.Start(t, answers("old"))
	old := n.Workers()
	answers("new").Write(t, n.Folder)
	n.Reload()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}} // any worker may answer
	for range 20 {
		if got := nginxtest.Get(t, client, "http://"+address); got.Body != "new" {
			t.Fatalf("nginx answers %d %q after the reload", got.Status, got.Body)
		}
	}
	for _, worker := range n.Workers() {
		if !worker.Draining && worker.PID == old[0].PID {
			t.Errorf("worker %d, which ran before the reload, still serves", worker.PID)
		}
	}
	if !strings.Contains(n.ErrorLog(), "reconfiguring") {
		t.Errorf("the error log does not mention the reload: %s", n.ErrorLog())
	}
}

// The server closes a kept-alive connection when a second request arrives on it, as a draining worker
// of nginx does.
func TestPostIsRepeated(t *testing.T) {
	var connections atomic.Int32
	address := tcptest.Serve(t, "127.0.0.1:0", func(conn net.Conn) {
		connections.Add(1)
		reader := bufio.NewReader(conn)
		if request, err := http.ReadRequest(reader); err == nil {
			for name := range request.Header {
				if strings.Contains(name, "Idempotency") {
					t.Errorf("the header %s is sent", name)
				}
			}
			conn.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"))
		}
		_, _ = reader.ReadByte() // of the second request; an error means that the client has gone
	})
	client := nginxtest.Client(new(http.Transport))
	t.Cleanup(client.CloseIdleConnections)
	for range 2 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address.String(), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if got := nginxtest.Do(t, client, request); got.Status != http.StatusOK {
			t.Errorf("status %d", got.Status)
		}
	}
	if n := connections.Load(); n != 2 {
		t.Errorf("%d connections, want a second one for the repeated request", n)
	}
}
