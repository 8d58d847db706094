package simulated

import (
	"net"
	"net/netip"
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

func TestPortBlocksAreExclusiveAndReusable(t *testing.T) {
	one, err := claimBlock()
	if err != nil {
		t.Fatal(err)
	}
	other, err := claimBlock()
	if err != nil {
		t.Fatal(err)
	}
	defer other.release()
	if one.prefix.Overlaps(other.prefix) || !netip.MustParsePrefix("127.0.0.0/8").Overlaps(one.prefix) {
		t.Errorf("blocks %v and %v", one.prefix, other.prefix)
	}
	one.release()
	again, err := claimBlock()
	if err != nil {
		t.Fatal(err)
	}
	defer again.release()
	if again.prefix.Overlaps(other.prefix) {
		t.Errorf("block %v overlaps one that is in use", again.prefix)
	}
}
