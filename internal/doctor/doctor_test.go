package doctor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"windtunnel.dev/internal/nginxtest"
	"windtunnel.dev/internal/sharedlistener"
)

// pretend replaces the output of this machine's `nginx -V`.
func pretend(t *testing.T, text string) {
	t.Helper()
	program, _ := nginxtest.Find(t)
	path := filepath.Join(t.TempDir(), "nginx")
	script := "#!/bin/sh\n[ \"$1\" = -V ] || exec " + program.Binary + " \"$@\"\ncat >&2 <<'EOF'\n" + text + "\nEOF\n"
	if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NGINX_BINARY", path)
}

func TestNginxWithoutLuaIsNotFit(t *testing.T) {
	pretend(t, "nginx version: nginx/1.22.1\nconfigure arguments: --prefix=/nowhere --modules-path=/nowhere/modules")
	err := Fit()
	if err == nil || !strings.Contains(err.Error(), "http_lua") || !strings.Contains(err.Error(), "apt-get install libnginx-mod-http-lua") {
		t.Errorf("Fit = %v, want what is missing and how to install it", err)
	}
}

func TestNoNginxIsNotFit(t *testing.T) {
	t.Setenv("NGINX_BINARY", "/nowhere/nginx")
	if err := Fit(); err == nil || !strings.Contains(err.Error(), "/nowhere/nginx") {
		t.Errorf("Fit = %v, want the path that was tried", err)
	}
}

func TestFindingsAreComplete(t *testing.T) {
	for _, result := range Examine(t.Context()) {
		if result.What == "" || result.Found == "" || result.Without == "" {
			t.Errorf("result %+v has an empty field", result)
		}
	}
}

// examineFiles counts the files that remain for pods, and says whether pods need them.
func TestFilesAreCounted(t *testing.T) {
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	results := examineFiles()
	want := fmt.Sprintf("limit %d: less 500 for the rest of a run, room for %d sockets", before.Max, before.Max-500)
	if found := results[0].Found; !strings.HasPrefix(found, want) || results[0].OK != (before.Max >= 10_500) {
		t.Errorf("%+v, want %q", results[0], want)
	}
	if shared := results[1]; shared.OK != (sharedlistener.Supported() == nil) || !shared.OK && !strings.Contains(shared.Found, "CAP_BPF") {
		t.Errorf("%+v", shared)
	}
}
