package simulated

import (
	"net"
	"strings"
	"testing"
)

func TestPortsAreFreeAndBelowTheEphemeralOnes(t *testing.T) {
	ports, err := choosePorts(0)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, flag := range portFlags {
		port := ports[flag]
		if seen[port] || len(port) != 5 || port >= "32768" {
			t.Errorf("--%s=%s", flag, port)
		}
		seen[port] = true
	}
}

func TestErrorNamesThePortInUse(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).AddrPort().Port()
	_, err = choosePorts(int(port))
	if err == nil || !strings.Contains(err.Error(), "--http-port, is in use") || !strings.Contains(err.Error(), "--port-base") {
		t.Errorf("error %v does not name the flag and how to fix it", err)
	}
}
