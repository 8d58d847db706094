// Package golden compares a test's output with a golden file, and rewrites the file on request. Its
// one rule: commit a rewritten file only when you understand why it changed.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite golden files with the tests' output")

// Update reports whether this run rewrites golden files.
func Update() bool { return *update }

// Check compares got with the file at path, and fails the test if they differ; with -update it
// writes the file instead.
func Check(t testing.TB, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the test with -update to write it)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got); if the change is intended, run the test with -update:\n%s", path, diff)
	}
}
