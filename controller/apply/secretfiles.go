package apply

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"

	"windtunnel.dev/controller/conf"
	"windtunnel.dev/controller/plan"
)

// writeSecretFiles writes those files of next that differ from the ones on disk. It keeps files
// that next does not need, because the running nginx may still read them.
func (t *Target) writeSecretFiles(next plan.State) error {
	for path, content := range next.Files {
		if present, err := os.ReadFile(path); err == nil && bytes.Equal(present, content) {
			continue
		}
		if err := t.writeSecret(path, content, next.Conf); err != nil {
			return err
		}
	}
	return nil
}

// writeSecret writes a file that only its reader may read: the workers for password files, which
// they read at every request, and the master for all others.
func (t *Target) writeSecret(path string, content []byte, text conf.Text) error {
	if filepath.Dir(path) != t.layout.Passwords() {
		return WriteSecret(path, content)
	}
	owner, err := t.workersUID(text)
	if err != nil {
		return fmt.Errorf("writing %s for nginx's workers: %w", path, err)
	}
	return write(path, conf.Whole(content), 0o600, owner)
}

// discard removes the files of one state that the other does not have.
func discard(of, except plan.State) error {
	needed := make(map[string]bool)
	for path := range beside(except) {
		needed[path] = true
	}
	var all []error
	for path := range beside(of) {
		if needed[path] {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = append(all, fmt.Errorf("removing a file that nginx no longer needs: %w", err))
		}
	}
	return errors.Join(all...)
}

// beside returns the paths of the files that nginx reads at start, except for its own configuration
// and that of Lua.
func beside(state plan.State) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, files := range []map[string][]byte{state.Files, state.Tracing} {
			for path := range files {
				if !yield(path) {
					return
				}
			}
		}
	}
}

var userDirective = regexp.MustCompile(`(?m)^user\s+([^\s;]+)`)

// workersUID returns the user ID of nginx's workers. If the master does not run as root, they run
// as its user.
func (t *Target) workersUID(text conf.Text) (int, error) {
	if os.Geteuid() != 0 {
		return ourselves, nil
	}
	name := t.nginx.User()
	if directive := text.Find(userDirective); directive != nil {
		name = string(directive[1])
	}
	worker, err := user.Lookup(name)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(worker.Uid)
}
