package traffic

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"windtunnel.dev/sim/event"
)

// Each cause of failed TCP connections, on a real socket.
func TestCausesOfTCP(t *testing.T) {
	answer := func(p *peer) string {
		line, _ := p.reader.ReadString('\n')
		return streamAnswer(line)
	}
	for name, test := range map[string]struct {
		script func(*peer)
		want   event.Cause
	}{
		"FIN before an answer": {func(p *peer) { p.reader.ReadString('\n') }, event.EOF},
		"RST before an answer": {func(p *peer) { p.reader.ReadString('\n'); p.reset() }, event.Reset},
		"FIN between messages": {func(p *peer) { io.WriteString(p, answer(p)); p.reader.ReadString('\n') }, event.StreamCut},
		"RST between messages": {func(p *peer) { io.WriteString(p, answer(p)); p.reader.ReadString('\n'); p.reset() }, event.StreamCut},
		"not what was sent":    {func(p *peer) { answer(p); io.WriteString(p, `{"body":"00"}`+"\n"); p.untilClosed() }, event.Corrupted},
		"not a pod's answer":   {func(p *peer) { io.WriteString(p, "220 smtp.example\n"); p.untilClosed() }, event.Corrupted},
		"another pod continues": {func(p *peer) {
			io.WriteString(p, answer(p))
			io.WriteString(p, strings.Replace(answer(p), "web-1", "web-2", 1))
			p.untilClosed()
		}, event.Corrupted},
		"a pod of another service": {func(p *peer) {
			// The client sends three messages, or four if its clock ticks just before the end.
			for line, err := p.reader.ReadString('\n'); err == nil; line, err = p.reader.ReadString('\n') {
				io.WriteString(p, strings.Replace(streamAnswer(line), "demo/web\"", "demo/api\"", 1))
			}
		}, event.WrongPod},
		"no answer": {(*peer).untilClosed, event.Timeout},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, "tcp", serve(t, test.script).address)
			if test.want == event.Timeout {
				c.recorder.attack.Timeout = 50 * time.Millisecond
			}
			if r := c.fire(); r.Cause != test.want || r.Detail == "" {
				t.Errorf("cause %q (%s), want %q", r.Cause, r.Detail, test.want)
			}
		})
	}
}

// A pod that ends cuts its connections.
func TestTCPConnectionIsCutByItsPod(t *testing.T) {
	p := pod(t, "127.208.0.0/24", "demo/web-1", "demo/web")
	conn, err := net.Dial("tcp", p.StreamAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	for range 2 {
		io.WriteString(conn, "abc\n")
		if answer, err := answers.ReadString('\n'); err != nil || !strings.Contains(answer, sumOf("abc")) {
			t.Fatalf("got %q, %v", answer, err)
		}
	}
	p.Gone()
	if _, err := answers.ReadString('\n'); err == nil {
		t.Error("a pod that is gone keeps a connection open")
	}
	if _, err := net.Dial("tcp", p.StreamAddr().String()); err == nil {
		t.Error("a pod that is gone accepts a connection")
	}
}

// Targets of TCP and UDP services have their own addresses.
func TestTargetsWithAddresses(t *testing.T) {
	one, other := pod(t, "127.209.0.0/24", "demo/a-1", "demo/a"), pod(t, "127.209.1.0/24", "demo/b-1", "demo/b")
	for _, lane := range []string{"tcp", "udp"} {
		log := newEvents()
		err := Run(context.Background(), Attack{
			Lane: lane, Rate: first{Arrivals{Rate: 200}.Pacer(1), 20}, To: netip.MustParseAddrPort("127.0.0.1:1"), Log: log.Log, Last: 20 * time.Millisecond,
			Targets: []Target{{Host: "a", Service: "demo/a", To: one.StreamAddr()}, {Host: "b", Service: "demo/b", To: other.StreamAddr()}},
		})
		if err != nil {
			t.Fatal(err)
		}
		served := map[string]int{}
		for _, r := range log.requests(t) {
			if r.Cause != "" {
				t.Errorf("%s: %s: %s", lane, r.Cause, r.Detail)
			}
			served[r.Served]++
		}
		if served["demo/a"] == 0 || served["demo/b"] == 0 {
			t.Errorf("%s: served %v", lane, served)
		}
	}
}

// streamAnswer returns what a pod answers to a line.
func streamAnswer(line string) string {
	return `{"pod":"demo/web-1","service":"demo/web","body":"` + sumOf(strings.TrimSpace(line)) + `"}` + "\n"
}

func sumOf(text string) string { return checksum([]byte(text)) }
