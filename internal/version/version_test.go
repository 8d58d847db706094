package version_test

import (
	"runtime"
	"testing"

	"windtunnel.dev/internal/version"
)

func TestOf(t *testing.T) {
	b := version.Of()
	if b.Go != runtime.Version() || b.Version == "" || b.Commit == "" {
		t.Errorf("got %+v", b)
	}
}

func TestString(t *testing.T) {
	b := version.Build{Version: "v1.2.3", Commit: "abc", Modified: true, Go: "go1.26", Platform: "linux/amd64"}
	if got, want := b.String(), "v1.2.3 (commit abc, modified, go1.26, linux/amd64)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
