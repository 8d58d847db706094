// Package lua holds the Lua code that nginx runs. It stands between the
// controller, which writes it to where nginx.conf names it, and nginx. Its one
// rule: module names, entry scripts, shared dictionaries and the wire format
// are those of ingress-nginx.
package lua

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// FS is the code, as it lies below the lua folder.
//
//go:embed *.lua balancer certificate nginx util fallback
var FS embed.FS

// Write puts the code into a folder, which it makes if need be, and replaces
// the files it finds there. Folders and files are readable by everyone, as
// nginx's workers run as another user than the controller.
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
			return os.Chmod(path, 0o755) // whatever the umask
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
