package readfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestReadRefuses tries paths that a user may pass by mistake. Read must not wait for any of them.
func TestReadRefuses(t *testing.T) {
	dir := t.TempDir()
	pipe, large := filepath.Join(dir, "pipe"), filepath.Join(dir, "large")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(large, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:                          "it is a folder",
		pipe:                         "it is a pipe, and it is empty",
		large:                        "it has more than 4 bytes",
		"/dev/zero":                  "it is a device",
		filepath.Join(dir, "absent"): "no such file",
	} {
		if _, err := Read(path, 4); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// A shell's <(…) is a pipe with a writer.
func TestReadAcceptsPipesWithAWriter(t *testing.T) {
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if _, err := writer.WriteString("\xef\xbb\xbfkind: List"); err != nil {
		t.Fatal(err)
	}
	writer.Close() // the pipe keeps its content while reader is open
	data, err := Read(fmt.Sprintf("/dev/fd/%d", reader.Fd()), 100)
	if err != nil || string(data) != "kind: List" {
		t.Errorf("read %q, %v", data, err)
	}
}
