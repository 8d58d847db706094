// Package export writes embedded files into a folder, as a user's starting point. Its one rule: it
// overwrites no file, and writes all files or none.
package export

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Files writes files into a folder, which it creates if necessary, and returns their number. If one of
// them exists, the error wraps fs.ErrExist, and nothing is written.
func Files(folder string, files fs.FS) (int, error) {
	n := 0
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		n++
		path := filepath.Join(folder, filepath.FromSlash(name))
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w: export into an empty folder", path, fs.ErrExist)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, os.CopyFS(folder, files)
}
