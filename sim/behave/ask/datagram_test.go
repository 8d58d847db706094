package ask

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"windtunnel.dev/sim/behave"
)

// With udp, a request is one datagram, and so is its answer.
func TestDatagram(t *testing.T) {
	server, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	received := make(chan string, 1)
	long := strings.Repeat("a", 30000)
	go func() {
		buffer := make([]byte, maxDatagram)
		n, from, err := server.ReadFrom(buffer)
		if err != nil {
			return
		}
		received <- string(buffer[:n])
		server.WriteTo([]byte("HTTP/1.1 200 OK\r\nContent-Length: 30000\r\n\r\n"+long), from)
	}()
	address := netip.MustParseAddrPort(server.LocalAddr().String())
	got, err := Send(t.Context(), Target{HTTP: address}, behave.Request{Request: "POST http://a.example/cart", Body: long, UDP: true, From: "127.0.0.9"})
	if err != nil || len(got) != 1 || got[0].Status != 200 || string(got[0].Body) != long {
		t.Fatalf("exchanges %.200v with error %v, want one with status 200 and the body", got, err)
	}
	if sent := <-received; !strings.HasPrefix(sent, "POST /cart HTTP/1.1\r\nHost: a.example\r\n") || !strings.HasSuffix(sent, "\r\n\r\n"+long) {
		t.Errorf("the datagram is %.200q", sent)
	}
}

func TestDatagramRefused(t *testing.T) {
	server, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := netip.MustParseAddrPort(server.LocalAddr().String())
	server.Close()
	got, err := Send(t.Context(), Target{HTTP: address}, behave.Request{Request: "GET http://a.example/", UDP: true})
	if err != nil || got[0].Failure != refused {
		t.Errorf("exchanges %v with error %v, want one that is refused", got, err)
	}
}
