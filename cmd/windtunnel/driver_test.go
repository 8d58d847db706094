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

// If no subject runs the bundled controller, its image need not exist.
func TestContainersOfOtherImages(t *testing.T) {
	flags := driverFlags{name: "container", image: "registry.example/none"}
	if _, err := flags.open(t.Context()); err == nil {
		t.Error("the driver accepts an image that does not exist")
	}
	flags.unbundled = true
	if _, err := flags.open(t.Context()); err != nil {
		t.Error(err)
	}
}
