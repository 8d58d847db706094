// Package template reads users' templates of nginx.conf, and writes out ours for
// them to begin with. It stands between their folders and package render. Its one
// rule: what Export writes, Read takes, and it renders what ours does.
package template

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"windtunnel.dev/controller/render"
)

// Read reads a template: a file, or a folder with nginx.tmpl and the *.tmpl that
// it includes. Errors of the template itself read "file:line: what".
func Read(path string) (*render.Template, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		return render.Parse(path, text)
	}
	names, err := filepath.Glob(filepath.Join(path, "*.tmpl"))
	if err != nil {
		return nil, err
	}
	texts := make(map[string]string)
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		texts[filepath.Base(name)] = string(text)
	}
	return render.ParseFolder(path, texts)
}

// Export writes our template into a folder, which it makes, and returns the names
// of its files. It overwrites none: fs.ErrExist says that one is there.
func Export(folder string) ([]string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, err
	}
	texts := render.Files()
	names := slices.Sorted(maps.Keys(texts))
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(folder, name)); !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w: export into an empty folder", filepath.Join(folder, name), fs.ErrExist)
		}
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(texts[name]), 0o644); err != nil {
			return nil, err
		}
	}
	return names, nil
}
