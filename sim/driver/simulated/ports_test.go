package simulated

import (
	"fmt"
	"net"
	"reflect"
	"strings"
	"testing"

	"windtunnel.dev/sim/adapter"
)

func TestPortsAreFreeAndBelowTheEphemeralOnes(t *testing.T) {
	ports, err := choosePorts(0)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[int64]bool{}
	value := reflect.ValueOf(ports)
	for i := range value.NumField() {
		port := value.Field(i).Int()
		if seen[port] || port < 10000 || port >= 32768 {
			t.Errorf("%s is %d", value.Type().Field(i).Name, port)
		}
		seen[port] = true
	}
	if len(seen) != adapter.PortCount {
		t.Errorf("%d ports, want %d", len(seen), adapter.PortCount)
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
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("port %d, one of", port)) || !strings.Contains(err.Error(), "--port-base") {
		t.Errorf("error %v does not name the port and how to fix it", err)
	}
}
