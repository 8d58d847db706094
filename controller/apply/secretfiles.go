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
	"sync"
	"time"

	"windtunnel.dev/controller/conf"
	"windtunnel.dev/controller/plan"
)

// writeSecretFiles writes those files of next that differ from the ones on disk. It keeps files
// that next does not need, because the running nginx may still read them. Each file is readable
// only by its reader: password files by the workers, at every request; all others by the master.
func (t *Target) writeSecretFiles(next plan.State) error {
	workers := sync.OnceValues(func() (int, error) { return t.workersUID(next.Conf) })
	for path, content := range next.Files {
		if t.onDisk(path, content) {
			continue
		}
		owner := ourselves
		if filepath.Dir(path) == t.layout.Passwords() {
			var err error
			if owner, err = workers(); err != nil {
				return fmt.Errorf("writing %s for nginx's workers: %w", path, err)
			}
		}
		if err := write(path, conf.Whole(content), 0o600, owner); err != nil {
			return err
		}
		t.remember(path, content)
	}
	return nil
}

// secretFile is a file as we last wrote or read it.
type secretFile struct {
	content  []byte
	modified time.Time
}

// onDisk reports whether a file has this content. It reads a file only if it changed since the last
// read, because a large cluster has thousands of files.
func (t *Target) onDisk(path string, content []byte) bool {
	if known, found := t.files[path]; found && bytes.Equal(known.content, content) {
		info, err := os.Lstat(path)
		if err == nil && info.Size() == int64(len(content)) && info.ModTime().Equal(known.modified) {
			return true
		}
	}
	present, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(present, content) {
		return false
	}
	t.remember(path, content)
	return true
}

func (t *Target) remember(path string, content []byte) {
	if info, err := os.Lstat(path); err == nil {
		t.files[path] = secretFile{content, info.ModTime()}
	}
}

// discard removes the files of one state that the other does not need.
func (t *Target) discard(of, except plan.State) error {
	needed := make(map[string]bool)
	for path := range beside(except) {
		needed[path] = true
	}
	var all []error
	for path := range beside(of) {
		if needed[path] {
			continue
		}
		delete(t.files, path)
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			all = append(all, fmt.Errorf("removing a file that nginx no longer needs: %w", err))
		}
	}
	return errors.Join(all...)
}

// beside returns the paths of the files that nginx reads at start, except nginx.conf and Lua's
// configuration.
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

// userDirective matches "user NAME [GROUP];", but not an assignment in Lua code.
var userDirective = regexp.MustCompile(`^user\s+([^\s;=]+)(\s+[^\s;=]+)?\s*;`)

// workersUID returns the user ID of nginx's workers. If the master does not run as root, they run
// as its user.
func (t *Target) workersUID(text conf.Text) (int, error) {
	if os.Geteuid() != 0 {
		return ourselves, nil
	}
	name := t.nginx.User()
	for line := range text.LinesWith([]byte("user")) {
		if directive := userDirective.FindSubmatch(line); directive != nil {
			name = string(directive[1])
			break
		}
	}
	worker, err := user.Lookup(name)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(worker.Uid)
}
