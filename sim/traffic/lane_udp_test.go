package traffic

import (
	"net"
	"testing"

	"windtunnel.dev/sim/event"
)

// Each cause of failed datagrams, on a real socket.
func TestCausesOfUDP(t *testing.T) {
	for name, test := range map[string]struct {
		answer string
		want   event.Cause
	}{
		"answered":                 {`{"pod":"demo/web-1","service":"demo/web","body":"` + sumOf("message 1") + `"}`, ""},
		"a pod of another service": {`{"pod":"demo/api-1","service":"demo/api","body":"` + sumOf("message 1") + `"}`, event.WrongPod},
		"not what was sent":        {`{"pod":"demo/web-1","service":"demo/web","body":"00"}`, event.Corrupted},
		"lost":                     {"", event.Timeout},
		"nobody, says nginx":       {"", event.EOF},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			go func() {
				buffer := make([]byte, 1500)
				if _, from, err := conn.ReadFrom(buffer); err == nil && test.want != event.Timeout {
					conn.WriteTo([]byte(test.answer), from)
				}
			}()
			r := newClient(t, "udp", conn.LocalAddr().(*net.UDPAddr).AddrPort()).fire()
			if r.Cause != test.want || (r.Cause == "") != (r.Detail == "") {
				t.Errorf("cause %q (%s), want %q", r.Cause, r.Detail, test.want)
			}
		})
	}
}

// The end of the run is not a failure for datagrams either.
func TestDatagramsAtTheEndOfTheRun(t *testing.T) {
	conn, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	c := newClient(t, "udp", conn.LocalAddr().(*net.UDPAddr).AddrPort())
	go func() {
		conn.ReadFrom(make([]byte, 1500))
		c.cancel(errEnded)
	}()
	if r := c.fire(); r.Cause != event.OurCancel {
		t.Errorf("cause %q (%s)", r.Cause, r.Detail)
	}
}
