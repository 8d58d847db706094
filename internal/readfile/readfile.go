// Package readfile reads files that a user names. Its one rule: it rejects everything that is not a
// file or is too large, and neither waits for it nor reads it into memory. Examples are a pipe
// without a writer, /dev/zero, or a log in place of a manifest.
package readfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// openTimeout is how long the writer of a pipe may take: it may be kubectl.
const openTimeout = time.Minute

// Open opens a regular file, or a pipe with a writer, such as a shell's <(…). For other kinds of
// files, the error names the kind.
func Open(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	switch {
	case info.Mode().IsRegular():
		return os.Open(path)
	case info.Mode()&fs.ModeNamedPipe != 0:
		return openPipe(path)
	}
	return nil, &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("it is %s: name a regular file", kind(info.Mode()))}
}

// openPipe does not wait for a writer: reading a pipe without one returns io.EOF.
func openPipe(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := file.SetReadDeadline(time.Now().Add(openTimeout)); err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

// Read reads a file of at most limit bytes, and removes the byte order mark that some editors add.
// It returns an error for a pipe that is empty or whose writer does not finish within a minute.
func Read(path string, limit int64) ([]byte, error) {
	file, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > limit {
		return nil, &fs.PathError{Op: "read", Path: path, Err: tooLarge(limit)}
	}
	data, err := All(file, limit)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("it is a pipe, and its writer did not finish within %v", openTimeout)
	case err == nil && len(data) == 0 && isPipe(file):
		err = errors.New("it is a pipe, and it is empty: start its writer first")
	}
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return data, nil
}

// All reads a stream of at most limit bytes, and removes a byte order mark.
func All(r io.Reader, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, tooLarge(limit)
	}
	return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), nil
}

// ErrTooLarge means that a file or a stream has more bytes than may be read.
var ErrTooLarge = errors.New("too large")

func tooLarge(limit int64) error {
	return fmt.Errorf("%w: it has more than %d bytes, the maximum", ErrTooLarge, limit)
}

func isPipe(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&fs.ModeNamedPipe != 0
}

func kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "not a regular file"
}
