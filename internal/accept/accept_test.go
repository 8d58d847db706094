package accept_test

import (
	"bytes"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"testing"

	"windtunnel.dev/internal/accept"
)

// short is a listener that first fails as if the process had too many open files.
type short struct {
	net.Listener
	failures int
}

func (s *short) Accept() (net.Conn, error) {
	if s.failures > 0 {
		s.failures--
		return nil, syscall.EMFILE
	}
	return s.Listener.Accept()
}

func TestEachContinuesAfterErrors(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	var logged bytes.Buffer
	served := 0
	accept.Each(&short{listener, 3}, slog.New(slog.NewTextHandler(&logged, nil)), func(connection net.Conn) {
		served++
		connection.Close()
		listener.Close() // ends the loop
	})
	if served != 1 {
		t.Errorf("%d connections were served, want 1", served)
	}
	if text := logged.String(); strings.Count(text, "too many open files") != 3 || !strings.Contains(text, listener.Addr().String()) {
		t.Errorf("logged:\n%s", text)
	}
}
