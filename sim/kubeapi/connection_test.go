package kubeapi

import (
	"context"
	"crypto/tls"
	"net"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// Close does not wait for connections without a request, even without a handshake.
func TestCloseDoesNotWaitForSilentConnections(t *testing.T) {
	s, err := Start(Options{HTTP: "127.0.0.1:0", HTTPS: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	var silent []net.Conn
	for _, url := range []string{s.URL(), s.TLSURL(), s.TLSURL()} {
		_, address, _ := strings.Cut(url, "://")
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		silent = append(silent, conn)
	}
	shaken := tls.Client(silent[2], &tls.Config{InsecureSkipVerify: true})
	if err := shaken.HandshakeContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := func(context.Context) (bool, error) { return s.connections.count() == len(silent), nil }
	if err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 10*time.Second, true, seen); err != nil {
		t.Fatal("the server has not accepted the connections")
	}
	// Well under the five seconds that net/http waits for a first request.
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
}

func (c *connections) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open)
}
