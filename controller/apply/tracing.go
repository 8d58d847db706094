package apply

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"windtunnel.dev/controller/plan"
)

// writeTracing writes the files of tracers, which nginx's workers must be able
// to read, and removes those that are wanted no more.
func (t *Target) writeTracing(next plan.State) error {
	for _, path := range slices.Sorted(maps.Keys(next.Tracing)) {
		content := next.Tracing[path]
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
	for path := range t.Running().Tracing {
		if _, wanted := next.Tracing[path]; !wanted {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("a tracer's file that is wanted no more: %w", err)
			}
		}
	}
	return nil
}
