// Package socket opens the controller's Unix sockets for nginx's workers. It stands between the
// packages that talk to workers and the file system. Its one rule: everyone may connect, because
// the workers run as another user.
package socket

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
)

// Listen opens a socket. It replaces a socket that an earlier controller left, and creates the
// folder if necessary.
func Listen(path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	listener, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("%w (a socket's path may have at most 107 characters)", err)
	}
	if err := os.Chmod(path, 0o777); err != nil {
		listener.Close()
		return nil, err
	}
	return listener, nil
}
