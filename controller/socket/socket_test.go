package socket

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestListen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tmp", "nginx", "a.socket")
	for range 2 { // the second time, the socket of an earlier start exists
		listener, err := Listen(path)
		if err != nil {
			t.Fatal(err)
		}
		listener.(*net.UnixListener).SetUnlinkOnClose(false)
		connection, err := net.Dial("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		connection.Close()
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o777 {
			t.Errorf("%v, %v: the workers of nginx cannot connect", info.Mode(), err)
		}
		listener.Close()
	}
}

func TestListenErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(file, "a.socket"):                                    "not a directory",
		filepath.Join(t.TempDir(), strings.Repeat("long", 30), "a.socket"): "at most 107 characters",
	} {
		if _, err := Listen(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}
