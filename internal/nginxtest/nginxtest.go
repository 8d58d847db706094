// Package nginxtest runs a real nginx for tests and sends requests to it. Its one rule: a test that
// cannot have the nginx that it needs skips and says why; an nginx ends with its test.
package nginxtest

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"windtunnel.dev/controller/nginx"
	"windtunnel.dev/internal/port"
)

// Patience bounds every wait for nginx. It is long because it only elapses when something is broken.
const Patience = 20 * time.Second

// Find returns the nginx of this machine, as nginx.Find finds it, and the files for the load_module
// lines of modules, whose names are those of nginx.Load. It skips the test under -short, and if
// nginx or a module is missing.
func Find(t testing.TB, modules ...string) (program *nginx.Nginx, files []string) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs nginx; not run with -short")
	}
	program, err := nginx.Find("")
	if err != nil {
		t.Skip("needs nginx: ", err)
	}
	if len(modules) > 0 {
		if files, err = program.Load(modules...); err != nil {
			t.Skip("needs a module of nginx: ", err)
		}
	}
	return program, files
}

// Folder returns a temporary folder that nginx's workers can enter. They are another user if root
// runs the test.
func Folder(t testing.TB) string {
	t.Helper()
	folder := t.TempDir()
	for dir := folder; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// FreePorts returns the first of n consecutive TCP ports on which nothing listens, and which the
// kernel assigns to no other process.
func FreePorts(t testing.TB, n int) (first int) {
	t.Helper()
	first, err := port.Free(n)
	if err != nil {
		t.Fatal(err)
	}
	return first
}

// FreeAddress returns a loopback address, host:port, with a port of FreePorts.
func FreeAddress(t testing.TB) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(FreePorts(t, 1)))
}
