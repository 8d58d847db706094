package fault

import (
	"errors"
	"net"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"windtunnel.dev/internal/port"
)

// While it lasts a connection is refused though somebody listens; another port, or the
// same one of another address, is left alone; afterwards all is as before.
func TestPostsRefused(t *testing.T) {
	listen := func(host string, port int) string {
		l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l.Addr().String()
	}
	free, err := port.Free(2) // none that the kernel may give to whoever else is tested now
	if err != nil {
		t.Fatal(err)
	}
	status, other, pod := listen("127.0.0.1", free), listen("127.0.0.1", free+1), listen("127.202.0.1", free)
	dial := func(address string) error {
		conn, err := net.DialTimeout("tcp", address, time.Minute)
		if err == nil {
			conn.Close()
		}
		return err
	}
	f, _ := Find("posts-refused")
	heal, err := f.Strike(t.Context(), &patient{port: free, master: os.Getpid()}, time.Hour, func() {})
	if errors.Is(err, ErrNotHere) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := dial(status); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("while posts are refused: %v", err)
	}
	if err := dial(other); err != nil {
		t.Errorf("another port: %v", err)
	}
	if err := dial(pod); err != nil {
		t.Errorf("the same port of another address: %v", err)
	}
	heal()
	if err := dial(status); err != nil {
		t.Errorf("after it healed: %v", err)
	}
}

func TestPostsRefusedNeedsAPort(t *testing.T) {
	f, _ := Find("posts-refused")
	if _, err := f.Strike(t.Context(), &patient{}, time.Hour, func() {}); !errors.Is(err, ErrNotHere) {
		t.Errorf("got %v", err)
	}
}
