package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// A shell's <(…) is a pipe, which can be read only once.
func TestFilesFromPipes(t *testing.T) {
	for _, test := range []struct{ command, file, want string }{
		{"validate", "../../scenarios/endpoints/announced-endpoints.yaml", "1 file: 0 problems"},
		{"validate", "../../adapters/ingress-nginx.yaml", "1 file: 0 problems"},
		{"predict", "../../scenarios/endpoints/announced-endpoints.yaml", "staleness"},
	} {
		text, err := os.ReadFile(test.file)
		if err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		code := Main(t.Context(), []string{test.command, pipeWith(t, text)}, &stdout, &stderr)
		if code != exitOK || !strings.Contains(stdout.String(), test.want) {
			t.Errorf("%s %s: exit code %d, want 0 and %q:\n%s%s", test.command, test.file, code, test.want, &stdout, &stderr)
		}
	}
}

// pipeWith returns the path of a pipe with a text in it. The text must fit into the pipe.
func pipeWith(t *testing.T, text []byte) string {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { read.Close() })
	if _, err := write.Write(text); err != nil {
		t.Fatal(err)
	}
	write.Close()
	return fmt.Sprintf("/proc/self/fd/%d", read.Fd())
}
