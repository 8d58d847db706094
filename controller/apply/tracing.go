package apply

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// writeTracing writes the tracer files whose content differs, readable by nginx's workers.
func writeTracing(files map[string][]byte) error {
	for path, content := range files {
		if present, err := os.ReadFile(path); err == nil && bytes.Equal(present, content) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("creating the directory of %s: %w", path, err)
		}
		if err := Write(path, content); err != nil {
			return err
		}
	}
	return nil
}

// Writable returns nil if a file can be written, otherwise the reason. It creates the directory of
// the file, but not the file.
func Writable(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file", path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	trial, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	trial.Close()
	return os.Remove(trial.Name())
}
