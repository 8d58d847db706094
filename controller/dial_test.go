package controller

import (
	"net"
	"testing"

	"windtunnel.dev/controller/options"
)

func TestAvoidProtectedPorts(t *testing.T) {
	listener, err := net.Listen("tcp", ":0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	number := listener.Addr().(*net.TCPAddr).Port
	for _, test := range []struct {
		host      string
		protected int
		ok        bool
	}{
		{"127.0.0.1", number, false},
		{"127.9.9.9", number, false},
		{"0.0.0.0", number, false},
		{"localhost", number, false},
		{"::ffff:127.0.0.1", number, false},
		{"127.0.0.1", number + 1, true},
	} {
		conn, err := (&net.Dialer{Control: avoidProtectedPorts(options.Ports{Status: test.protected})}).Dial("tcp", net.JoinHostPort(test.host, port))
		if err == nil {
			conn.Close()
		}
		if (err == nil) != test.ok {
			t.Errorf("%s, with %d protected: %v", test.host, test.protected-number, err)
		}
	}
}
