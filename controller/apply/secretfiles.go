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

	"windtunnel.dev/controller/plan"
)

// place makes the files that nginx reads besides its configuration be as next
// says, as far as they are not so already. Those that are no longer needed
// stay: an nginx that runs may still read them.
func (t *Target) place(next plan.State) error {
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

// writeSecret writes a file for the master alone, who reads everything but
// passwords: those its workers read at every request.
func (t *Target) writeSecret(path string, content, conf []byte) error {
	if filepath.Dir(path) != t.layout.Passwords() {
		return WriteSecret(path, content)
	}
	owner, err := t.workersUID(conf)
	if err != nil {
		return fmt.Errorf("writing %s for nginx's workers: %w", path, err)
	}
	return write(path, content, 0o600, owner)
}

// discard removes the files of one state that another does not have.
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
			all = append(all, fmt.Errorf("removing a file that nginx needs no longer: %w", err))
		}
	}
	return errors.Join(all...)
}

// beside are the paths of what nginx reads when it starts besides its
// configuration and Lua's.
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

// workersUID is whom nginx's workers run as. Those of a master that is not root
// are of its own user.
func (t *Target) workersUID(conf []byte) (int, error) {
	if os.Geteuid() != 0 {
		return ourselves, nil
	}
	name := t.nginx.User()
	if directive := userDirective.FindSubmatch(conf); directive != nil {
		name = string(directive[1])
	}
	worker, err := user.Lookup(name)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(worker.Uid)
}
