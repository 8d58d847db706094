package port

import (
	"net"
	"strconv"
	"testing"
)

func TestFreePortsCanBeListenedOn(t *testing.T) {
	base, err := Free(5)
	if err != nil {
		t.Fatal(err)
	}
	if base < lowest || base+5 > highest {
		t.Errorf("ports %d to %d are outside the range", base, base+4)
	}
	for port := base; port < base+5; port++ {
		listener, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(port))
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
	}
	if port, err := InUse(base, 5); err == nil || port != base {
		t.Errorf("InUse = %d, %v; want the first, %d", port, err, base)
	}
}

func TestFreePortsAreNotReturnedTwice(t *testing.T) {
	given := make(map[int]bool)
	for range 100 {
		base, err := Free(5)
		if err != nil {
			t.Fatal(err)
		}
		for port := base; port < base+5; port++ {
			if given[port] {
				t.Fatalf("port %d was returned before", port)
			}
			given[port] = true
		}
	}
}
