package port

import (
	"net"
	"os"
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

// Two processes have open files of their own, as these have.
func TestClaimsOfTwoProcessesDiffer(t *testing.T) {
	var one, other claims
	first := os.Getpid() << 16 // ports that do not exist, and that no other test run claims
	take := func(c *claims, from, n int, want bool) {
		t.Helper()
		if ours := c.take(first+from, n); ours != want {
			t.Errorf("take(%d, %d) = %t, want %t", from, n, ours, want)
		}
	}
	take(&one, 0, 10, true)
	take(&one, 0, 10, true) // a process may use its own ports again
	take(&other, 9, 1, false)
	take(&other, 10, 5, true)
	take(&one, 0, claimed, false)  // includes those of the other one
	take(&one, 100, claimed, true) // and gives up its oldest
	take(&other, 0, 10, true)

	one.file.Close() // as at the end of a process
	take(&other, 100, claimed, true)
	other.file.Close()
}
