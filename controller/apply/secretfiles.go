package apply

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
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
		if err := WriteSecret(path, content); err != nil {
			return err
		}
		if filepath.Dir(path) == t.layout.Passwords() {
			if err := t.giveToWorkers(path, next.Conf); err != nil {
				return err
			}
		}
	}
	return nil
}

// discard removes the files of one state that another does not have.
func discard(of, except plan.State) error {
	var all []error
	for path := range of.Files {
		if _, needed := except.Files[path]; needed {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = append(all, fmt.Errorf("removing a file that nginx needs no longer: %w", err))
		}
	}
	return errors.Join(all...)
}

var userDirective = regexp.MustCompile(`(?m)^user\s+([^\s;]+)`)

// giveToWorkers lets nginx's workers read a file, which they do at every
// request for passwords; everything else the master reads for them. Workers of
// a master that is not root are of its own user.
func (t *Target) giveToWorkers(path string, conf []byte) error {
	if os.Geteuid() != 0 {
		return nil
	}
	name := t.nginx.User()
	if directive := userDirective.FindSubmatch(conf); directive != nil {
		name = string(directive[1])
	}
	owner, err := user.Lookup(name)
	if err != nil {
		return fmt.Errorf("giving %s to nginx's workers: %w", path, err)
	}
	uid, err := strconv.Atoi(owner.Uid)
	if err != nil {
		return fmt.Errorf("giving %s to nginx's workers, who are %s: %w", path, name, err)
	}
	return os.Chown(path, uid, -1)
}
