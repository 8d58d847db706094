// Package built provides the commands of this module to tests that start them. Its one rule: a
// command is linked once for all tests, and then copied from Go's build cache.
package built

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/internal/command"
)

// Command builds cmd/NAME without the race detector and returns the path of the executable, in a
// folder of the test.
func Command(t testing.TB, name string) string {
	t.Helper()
	readSources(t)
	dir := t.TempDir()
	// go build would link each time. go run keeps executables in the cache and passes their path to
	// the program of -exec.
	run := command.New(t.Context(), "go", "run", "-exec", "cp -t '"+dir+"'", "windtunnel.dev/cmd/"+name)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("building %s: %v\n%s", name, err, out)
	}
	return filepath.Join(dir, name)
}

// without lists the folders that contain no sources of commands.
var without = []string{"bin", "docs", "runs", "testdata"}

// readSources lists the folders of the module. Go takes the result of a test from its cache if the test
// is the same, and the files and folders of the module that it read have not changed (go help test). A
// test that only starts a command reads none of its sources.
func readSources(t testing.TB) {
	t.Helper()
	root, err := moduleRoot()
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && path != root && (slices.Contains(without, entry.Name()) || strings.HasPrefix(entry.Name(), ".")) {
			return fs.SkipDir
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed meanwhile
		}
		return err
	})
	if err != nil {
		t.Fatalf("list the sources of %s: %v", root, err)
	}
}

// moduleRoot returns the folder above the working directory that has a go.mod.
func moduleRoot() (string, error) {
	folder, err := os.Getwd()
	for err == nil && folder != filepath.Dir(folder) {
		if _, found := os.Stat(filepath.Join(folder, "go.mod")); found == nil {
			return folder, nil
		}
		folder = filepath.Dir(folder)
	}
	return "", errors.Join(err, errors.New("no go.mod in the working directory or above"))
}
