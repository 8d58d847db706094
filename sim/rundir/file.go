package rundir

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"windtunnel.dev/internal/readfile"
)

// Copy copies a file, and makes the folder that it goes to.
func Copy(from, to string) error {
	source, err := readfile.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	target, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}

// WriteText writes a text to a file whole or not at all.
func WriteText(path string, text []byte) error {
	return WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// WriteFile writes a file whole or not at all. Its errors name path, even if they are about the temporary
// file beside it.
func WriteFile(path string, write func(io.Writer) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return naming(path, err)
	}
	defer os.Remove(file.Name())
	if err := errors.Join(write(file), file.Chmod(0o644), file.Close()); err != nil {
		return naming(path, err)
	}
	return os.Rename(file.Name(), path)
}

// naming returns an error about the temporary file beside path as an error about path, and other errors as
// they are.
func naming(path string, err error) error {
	reason := new(os.PathError)
	if errors.As(err, &reason) && strings.HasPrefix(filepath.Base(reason.Path), filepath.Base(path)+".") {
		return &os.PathError{Op: "write", Path: path, Err: reason.Err}
	}
	return err
}
