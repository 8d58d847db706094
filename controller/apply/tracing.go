package apply

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// writeTracing writes those files of tracers that are not there yet. nginx's
// workers must be able to read them.
func writeTracing(files map[string][]byte) error {
	for path, content := range files {
		if present, err := os.ReadFile(path); err == nil && bytes.Equal(present, content) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("the directory of %s: %w", path, err)
		}
		if err := Write(path, content); err != nil {
			return err
		}
	}
	return nil
}

// Writable says why a file could not be written, leaving the directory that it
// would be in; nil if it could.
func Writable(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file", path)
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
