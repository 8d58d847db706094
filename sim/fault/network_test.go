package fault

import (
	"errors"
	"net"
	"syscall"
	"testing"
	"time"
)

// While it lasts a connection is refused though somebody listens; another port is
// left alone; afterwards all is as before.
func TestPostsRefused(t *testing.T) {
	listen := func() (string, int) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		return l.Addr().String(), l.Addr().(*net.TCPAddr).Port
	}
	status, port := listen()
	other, _ := listen()
	dial := func(address string) error {
		conn, err := net.DialTimeout("tcp", address, time.Minute)
		if err == nil {
			conn.Close()
		}
		return err
	}
	f, _ := Find("posts-refused")
	heal, err := f.Strike(t.Context(), &patient{port: port}, time.Hour, func() {})
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
