package backend

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"windtunnel.dev/internal/port"
)

// A datagram may ask for time; what is no time is answered at once, as all others.
func TestDatagramsThatAreAnsweredLater(t *testing.T) {
	free, err := port.Free(2)
	if err != nil {
		t.Fatal(err)
	}
	f := New(Options{Prefix: netip.MustParsePrefix("127.211.0.0/24"), Port: free, StreamPort: free + 1})
	t.Cleanup(f.Stop)
	p := ready(t, f, "demo/web-1")
	for said, least := range map[string]time.Duration{
		"answer after 80ms message 1": 80 * time.Millisecond,
		"answer after a while":        0,
		"answer after -1s x":          0,
		"message 1":                   0,
	} {
		conn, err := net.Dial("udp", p.StreamAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		asked := time.Now()
		conn.Write([]byte(said))
		conn.SetReadDeadline(asked.Add(20 * time.Second))
		answer := make([]byte, 1500)
		if _, err := conn.Read(answer); err != nil || time.Since(asked) < least {
			t.Errorf("%q: answered %v after %v", said, err, time.Since(asked))
		}
	}
}
