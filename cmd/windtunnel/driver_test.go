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
	t.Setenv("DOCKER_HOST", "unix:///nonexistent/docker.sock")
	if _, err := (driverFlags{name: "container"}).open(t.Context()); err == nil {
		t.Error("the image of the bundled controller is found without an engine")
	}
	if _, err := (driverFlags{name: "container", unbundled: true}).open(t.Context()); err != nil {
		t.Error(err)
	}
}
