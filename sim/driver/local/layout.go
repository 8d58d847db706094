package local

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/driver/simulated"
)

// layOut writes files below a root, as a new container would have them: what an earlier controller
// left at their paths is replaced.
func layOut(root string, files []adapter.File) error {
	for _, file := range files {
		if err := layOutFile(placed(root, file.Path), file); err != nil {
			return err
		}
	}
	return nil
}

// placed returns a path of an adapter below the root; a path that is below it already stays as it is.
func placed(root, path string) string {
	if path == root || strings.HasPrefix(path, strings.TrimSuffix(root, "/")+"/") {
		return path
	}
	return filepath.Join(root, path)
}

func layOutFile(path string, file adapter.File) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.RemoveAll(path); err != nil {
		return err
	}
	switch {
	case file.Content != nil:
		mode := fs.FileMode(cmp.Or(file.Mode, 0o644))
		if err := os.WriteFile(path, []byte(*file.Content), mode); err != nil {
			return err
		}
		return os.Chmod(path, mode) // whatever the umask
	case file.Link != "":
		return os.Symlink(file.Link, path)
	case file.From != "":
		return copyTo(path, file)
	}
	return os.Mkdir(path, fs.FileMode(cmp.Or(file.Mode, 0o755)))
}

// copyTo copies a file, or a folder with everything in it.
func copyTo(path string, file adapter.File) error {
	info, err := os.Stat(file.From)
	if errors.Is(err, fs.ErrNotExist) && file.Optional {
		return nil
	}
	if err != nil {
		return err
	}
	if info.IsDir() {
		if len(file.Replace) > 0 {
			return fmt.Errorf("%s is a folder, in which no texts are replaced: name the files", file.From)
		}
		return os.CopyFS(path, os.DirFS(file.From))
	}
	text, err := simulated.Copied(file)
	if err != nil {
		return err
	}
	mode := fs.FileMode(cmp.Or(file.Mode, uint32(info.Mode().Perm())))
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}
