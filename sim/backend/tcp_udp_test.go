package backend

import (
	"bufio"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"windtunnel.dev/internal/port"
	"windtunnel.dev/sim/event"
)

// A datagram may request a delayed answer; if the delay is invalid, it is answered at once, like
// all others.
func TestDelayedDatagrams(t *testing.T) {
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
			t.Errorf("%q: answer %v after %v", said, err, time.Since(asked))
		}
	}
}

// failsOnce is a listener whose first Accept fails because of too many open files.
type failsOnce struct {
	net.Listener
	failed bool
}

func (l *failsOnce) Accept() (net.Conn, error) {
	if !l.failed {
		l.failed = true
		return nil, syscall.EMFILE
	}
	return l.Listener.Accept()
}

// After an error of Accept, the pod accepts again and answers the next client.
func TestAcceptIsRetried(t *testing.T) {
	s, err := listenStream(netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	at := s.tcp.Addr().String()
	s.tcp = &failsOnce{Listener: s.tcp}
	told := make(chan event.Event, 10)
	p := newPod(podContext{streamPort: 1, tell: func(e event.Event) { told <- e }}, "demo/web-1", "demo/web", netip.AddrPort{})
	ended := make(chan struct{})
	go func() { defer close(ended); p.serveStream(s) }()
	conn, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	if _, err := conn.Write([]byte("hello\n")); err != nil {
		t.Fatal(err)
	}
	if answer, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(answer, "demo/web-1") {
		t.Errorf("answer %q, %v", answer, err)
	}
	if e := <-told; e.Trouble == nil || !strings.Contains(e.Trouble.Detail, "raise the limit") {
		t.Errorf("event %+v", e)
	}
	s.close()
	<-ended // and it ends with its listener
	if len(told) > 0 {
		t.Errorf("event %+v", <-told)
	}
}
