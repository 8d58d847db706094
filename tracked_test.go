package windtunnel_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// mostTracked is the maximum size of a tracked file, in bytes.
const mostTracked = 1 << 20

// Git tracks sources and results, but no build output.
func TestBuildOutputIsNotTracked(t *testing.T) {
	list, err := exec.Command("git", "ls-files", "-s", "-z").Output()
	if err != nil {
		t.Skip("not a git repository: ", err)
	}
	for entry := range strings.SplitSeq(strings.TrimRight(string(list), "\x00"), "\x00") {
		mode, path, _ := strings.Cut(entry, "\t") // mode, hash and stage, then the path
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue // deleted and not yet committed, or a link
		}
		if info.Size() > mostTracked {
			t.Errorf("%s has %d bytes, more than %d: run git rm --cached, and list it in .gitignore", path, info.Size(), mostTracked)
		}
		begin := startOf(t, path)
		if bytes.HasPrefix(begin, []byte("\x7fELF")) || strings.HasPrefix(mode, "100755") && !bytes.HasPrefix(begin, []byte("#!")) {
			t.Errorf("%s is a binary executable: run git rm --cached, and list it in .gitignore", path)
		}
	}
}

// No file was committed in the middle of a merge.
func TestNoConflictMarkers(t *testing.T) {
	found, err := exec.Command("git", "grep", "-nIE", "^(<{7}|>{7}) ").Output()
	var exit *exec.ExitError
	switch {
	case err == nil:
		t.Errorf("conflict markers:\n%s", found)
	case !errors.As(err, &exit) || exit.ExitCode() != 1: // 1: nothing matches
		t.Skip("git cannot search the files: ", err)
	}
}

// startOf returns the first 4 bytes of a file, fewer if it has fewer.
func startOf(t *testing.T, path string) []byte {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	begin, err := io.ReadAll(io.LimitReader(file, 4))
	if err != nil {
		t.Fatal(err)
	}
	return begin
}
