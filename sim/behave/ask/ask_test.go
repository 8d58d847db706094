package ask

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/netip"
	"testing"
	"time"

	"windtunnel.dev/internal/tcptest"
	"windtunnel.dev/sim/behave"
)

// patience is how long tests wait for answers that should come at once.
const patience = 20 * time.Second

// one sends a request and returns its first exchange.
func one(t *testing.T, to Target, r behave.Request) behave.Exchange {
	t.Helper()
	return several(t, to, r)[0]
}

func several(t *testing.T, to Target, r behave.Request) []behave.Exchange {
	t.Helper()
	if r.Timeout == 0 {
		r.Timeout = patience
	}
	all, err := Send(t.Context(), to, r)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != max(r.Times, 1) {
		t.Fatalf("%d exchanges, want %d", len(all), max(r.Times, 1))
	}
	return all
}

// serve listens on an address and calls answer for each connection.
func serve(t *testing.T, address string, answer func(net.Conn)) netip.AddrPort {
	t.Helper()
	return tcptest.Serve(t, address, answer).(*net.TCPAddr).AddrPort()
}

const anyPort = "127.0.0.1:0"

// respond returns a server that reads the head of a request, writes the answer and closes the
// connection.
func respond(t *testing.T, answer string) Target {
	return Target{HTTP: serve(t, anyPort, func(c net.Conn) {
		readRequestHead(bufio.NewReader(c))
		io.WriteString(c, answer)
	})}
}

func readRequestHead(r *bufio.Reader) (string, error) {
	head, err := readHead(r)
	return string(head), err
}

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

// show returns the status, or the failure.
func show(e behave.Exchange) string {
	if e.Failure == "" {
		return fmt.Sprintf("%d %s", e.Status, e.Detail)
	}
	return fmt.Sprintf("%d %s: %s", e.Status, e.Failure, e.Detail)
}

func TestPort(t *testing.T) {
	other := respond(t, ok)
	to := Target{HTTP: serve(t, anyPort, func(net.Conn) {})}
	if e := one(t, to, behave.Request{Request: "GET http://a.example/", Port: int(other.HTTP.Port())}); e.Status != 200 {
		t.Errorf("the answer is %s, want that of the port", show(e))
	}
}
