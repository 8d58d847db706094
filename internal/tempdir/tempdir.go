// Package tempdir creates temporary folders, and finds the folders that dead processes have left
// behind. Its one rule: a folder belongs to the process that holds a lock on it (flock(2)). The
// kernel releases the lock when the process ends for any reason, so an unlocked folder is left
// over.
package tempdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"

	"windtunnel.dev/internal/readfile"
)

// prefix begins the names of all folders, which are in os.TempDir.
const prefix = "windtunnel-tmp-"

// Dir is a folder that this process has locked.
type Dir struct {
	Path string
	lock *os.File
}

// Make creates a folder that only this user can enter; what becomes part of its name.
func Make(what string) (*Dir, error) {
	for {
		path, err := os.MkdirTemp("", prefix+what+"-*")
		if err != nil {
			return nil, fmt.Errorf("creating a temporary folder: %w", err)
		}
		dir, err := Hold(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // a Sweep removed it before it was locked
		}
		if err != nil {
			return nil, errors.Join(err, os.Remove(path))
		}
		return dir, nil
	}
}

// Hold adds a lock to the folder of a cooperating process, such as a parent or child:
// the folder is left over when both have ended. The error is fs.ErrNotExist if the
// folder no longer exists.
func Hold(path string) (*Dir, error) {
	lock, err := open(path, unix.LOCK_SH)
	if err != nil {
		return nil, fmt.Errorf("locking the temporary folder %s: %w", path, err)
	}
	return &Dir{Path: path, lock: lock}, nil
}

// Release unlocks the folder and keeps it.
func (d *Dir) Release() { d.lock.Close() }

// Remove removes the folder and its content, and releases the lock. It first unmounts everything
// below the folder; if that fails, it removes nothing.
func (d *Dir) Remove() error {
	defer d.lock.Close()
	return remove(d.Path)
}

// Sweep removes the folders of this user whose owners are dead. Before it removes a
// folder it calls end, which may end processes that use it; if end fails, the folder stays.
func Sweep(end func(path string) error) error {
	paths, err := readfile.Glob(os.TempDir(), prefix+"*")
	if err != nil {
		return err
	}
	var problems []error
	for _, path := range paths {
		if !isOwnFolder(path) {
			continue
		}
		lock, err := open(path, unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, fs.ErrNotExist) {
			continue // its owner is alive, or another process removes it
		}
		if err == nil {
			if err = end(path); err == nil {
				err = remove(path)
			}
			lock.Close()
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("removing %s, which an earlier run left: %w", path, err))
		}
	}
	return errors.Join(problems...)
}

// isOwnFolder reports whether a path is a folder of this user.
func isOwnFolder(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// open opens and locks a folder. The error is fs.ErrNotExist if the folder does not
// exist, or was removed before it was locked.
func open(path string, how int) (*os.File, error) {
	file, err := os.OpenFile(path, unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	if err = flock(file, how); err == nil {
		err = checkSameFile(path, file)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return file, nil
}

func flock(file *os.File, how int) error {
	for {
		if err := unix.Flock(int(file.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// checkSameFile returns nil if the path still names the open file.
func checkSameFile(path string, file *os.File) error {
	there, err := os.Lstat(path)
	if err != nil {
		return err
	}
	here, err := file.Stat()
	if err == nil && !os.SameFile(here, there) {
		err = fs.ErrNotExist
	}
	return err
}

func remove(path string) error {
	if err := unmount(path); err != nil {
		return err
	}
	return os.RemoveAll(path)
}

// unescape replaces the escapes of paths in /proc/self/mountinfo.
var unescape = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// unmount unmounts everything below a path, the newest mount first.
func unmount(path string) error {
	whole, err := filepath.EvalSymlinks(path) // as the kernel names mounts
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process has removed it
	}
	if err != nil {
		return err
	}
	mounts, err := procfs.GetMounts()
	if err != nil {
		return fmt.Errorf("looking for mounts below %s: %w", path, err)
	}
	for _, mount := range slices.Backward(mounts) {
		point := unescape.Replace(mount.MountPoint)
		if !strings.HasPrefix(point, whole+"/") {
			continue
		}
		if err := unix.Unmount(point, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil {
			return fmt.Errorf("unmounting %s: %w", point, err)
		}
	}
	return nil
}
