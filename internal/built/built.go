// Package built provides the commands of this module to tests that start them. Its one rule: a
// command is linked once for all tests, and then copied from Go's build cache.
package built

import (
	"path/filepath"
	"testing"

	"windtunnel.dev/internal/command"
)

// Command builds cmd/NAME without the race detector and returns the path of the executable, in a
// folder of the test.
func Command(t testing.TB, name string) string {
	t.Helper()
	dir := t.TempDir()
	// go build would link each time. go run keeps executables in the cache and passes their path to
	// the program of -exec.
	run := command.New(t.Context(), "go", "run", "-exec", "cp -t '"+dir+"'", "windtunnel.dev/cmd/"+name)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", name, err, out)
	}
	return filepath.Join(dir, name)
}
