package readfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Files returns the file that a user names or, for a folder, the files with these extensions in it and in
// its subfolders, in the order of names. The folder may be a symbolic link.
func Files(path string, extensions ...string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var files []string
	// Without the separator, WalkDir does not follow a link.
	err = filepath.WalkDir(path+string(filepath.Separator), func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && slices.Contains(extensions, filepath.Ext(name)) {
			files = append(files, name)
		}
		return err
	})
	return files, err
}

// Glob is filepath.Glob below a folder. The folder's name is taken literally: it may contain brackets.
func Glob(folder, pattern string) ([]string, error) {
	found, err := fs.Glob(os.DirFS(folder), pattern)
	for i, name := range found {
		found[i] = filepath.Join(folder, name)
	}
	return found, err
}
