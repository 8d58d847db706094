// Package lua contains the Lua code that nginx runs. The controller writes it to the folder that
// nginx.conf names. Its one rule: module names, entry scripts, shared dictionaries and the wire
// format are those of ingress-nginx.
package lua

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// FS contains the code, with paths relative to the lua folder.
//
//go:embed *.lua balancer certificate nginx util fallback
var FS embed.FS

// Write writes the code to a folder, which it creates if necessary, and replaces existing files.
// Folders and files are world-readable, because nginx's workers run as another user than the
// controller.
func Write(dir string) error {
	if err := write(dir); err != nil {
		return fmt.Errorf("writing the Lua code of nginx: %w", err)
	}
	return nil
}

func write(dir string) error {
	return fs.WalkDir(FS, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(name))
		if entry.IsDir() {
			if err := os.MkdirAll(path, 0o755); err != nil {
				return err
			}
			return os.Chmod(path, 0o755) // regardless of the umask
		}
		text, err := FS.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return err
		}
		return os.Chmod(path, 0o644)
	})
}
