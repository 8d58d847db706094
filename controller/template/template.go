// Package template reads users' templates of nginx.conf, and exports ours as a starting point. It
// stands between their folders and package render. Its one rule: Read accepts the output of Export,
// which renders the same nginx.conf as our template.
package template

import (
	"fmt"
	"os"
	"path/filepath"

	"windtunnel.dev/controller/render"
	"windtunnel.dev/internal/export"
)

// Read reads a template: a file, or a folder with nginx.tmpl and the *.tmpl files that it includes.
// Errors in the template have the form "file:line: message".
func Read(path string) (*render.Template, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return readFile(path)
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

// readFile reads a template from one file. If the file includes other files of its folder, the user
// meant the folder.
func readFile(path string) (*render.Template, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	t, err := render.Parse(path, text)
	if err != nil {
		return nil, err
	}
	folder := filepath.Dir(path)
	for _, name := range t.Undefined() {
		if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
			return nil, fmt.Errorf("%s includes %s, another file: name the folder, %s, instead", path, name, folder)
		}
	}
	return t, nil
}

// Export writes our template into a folder and returns the number of its files. It creates the
// folder if necessary. It overwrites no file: if one exists, the error wraps fs.ErrExist.
func Export(folder string) (int, error) {
	return export.Files(folder, render.FS())
}
