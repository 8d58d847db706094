package apply

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"
)

func TestWriteIsAtomic(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nginx.conf")
	versions := [][]byte{bytes.Repeat([]byte("a"), 1<<20), bytes.Repeat([]byte("b"), 1<<19)}
	if err := Write(path, versions[0]); err != nil {
		t.Fatal(err)
	}
	var writing sync.WaitGroup
	done := make(chan struct{})
	writing.Go(func() {
		defer close(done)
		for i := range 50 {
			if err := Write(path, versions[i%2]); err != nil {
				t.Error(err)
			}
		}
	})
	defer writing.Wait()
	for {
		got, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, versions[0]) && !bytes.Equal(got, versions[1]) {
			t.Fatalf("read %d bytes, %v: neither the old content nor the new", len(got), err)
		}
		select {
		case <-done:
			return
		default:
		}
	}
}

func TestFailedWriteLeavesNoFiles(t *testing.T) {
	dir := t.TempDir()
	occupied := filepath.Join(dir, "nginx.conf")
	if err := os.MkdirAll(filepath.Join(occupied, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := Write(occupied, []byte("text")); err == nil {
		t.Error("a directory was replaced")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("%d entries remain, want 1", len(entries))
	}
}

func TestCopyIsReadableByAll(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "lua")
	tree := fstest.MapFS{"balancer.lua": {Data: []byte("a"), Mode: 0o600}, "util/dns.lua": {Data: []byte("b"), Mode: 0o600}}
	for range 2 { // also over existing files
		if err := Copy(dir, tree); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]os.FileMode{"": 0o755, "balancer.lua": 0o644, "util": 0o755, "util/dns.lua": 0o644} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: %v (%v), want %v", name, info.Mode(), err, want)
		}
	}
}
