package fault

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A healed disk has as much free space as its files use, however much that is, and keeps
// its files.
func TestDiskFull(t *testing.T) {
	f, _ := Find("disk-full")
	dir := t.TempDir()
	conf := filepath.Join(dir, "nginx.conf")
	content := make([]byte, smallest/3)
	if err := os.WriteFile(conf, content, 0o644); err != nil {
		t.Fatal(err)
	}
	p := &patient{master: startMaster(t, "", "-c", conf).Process.Pid}
	struck := -1
	heal, err := f.Strike(t.Context(), p, time.Hour, func(n int) { struck = n })
	if errors.Is(err, ErrNotHere) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) }) // an error means that it is already unmounted
	next := filepath.Join(dir, "nginx.conf.next")
	if err := os.WriteFile(next, content, 0o644); !errors.Is(err, unix.ENOSPC) {
		t.Errorf("writing to a full disk: %v", err)
	}
	heal()
	if struck != 1 {
		t.Errorf("struck %d writes, want 1", struck)
	}
	for range 2 {
		if err := os.WriteFile(next, content, 0o644); err != nil {
			t.Error("after it healed: ", err)
		}
		next += ".next"
	}
	if got, _ := os.ReadFile(conf); len(got) != len(content) || len(p.troubles) != 0 {
		t.Errorf("got %d bytes of %d, troubles %q", len(got), len(content), p.troubles)
	}
}

// A file system that the fault did not make is not filled: it may be the machine's own.
func TestOtherDiskIsNotFilled(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("another-disk", dir, "tmpfs", 0, "size=1m"); errors.Is(err, unix.EPERM) {
		t.Skip("mounting a file system needs root")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	filler, err := fill(os.Getpid(), dir)
	if err == nil {
		filler.Close()
	}
	if err == nil || !strings.Contains(err.Error(), dir+" has gone") {
		t.Errorf("got %v", err)
	}
}
