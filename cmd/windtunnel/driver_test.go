package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The value of --controller is a path, even without a slash.
func TestControllerIsAPath(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("controller", nil, 0o755); err != nil {
		t.Fatal(err)
	}
	if path, err := bundledController("controller"); err != nil || !filepath.IsAbs(path) {
		t.Errorf("%q, %v", path, err)
	}
}
