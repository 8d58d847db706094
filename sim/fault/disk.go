package fault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ofDisk are the faults of where the controller writes.
var ofDisk = []Fault{
	{Name: "disk-full", Doc: "There is no room left where nginx's configuration is written. It needs root.", Lasts: true,
		strike: fillDisk},
}

// smallDisk is the size of the file system that is filled, in bytes.
const smallDisk = 64 << 20

// fillDisk puts a small file system of its own where nginx.conf lies, with all that
// is there, and fills it to the brim; where nginx is in a container, only there is
// it seen. It stays when it is healed, with room again: what the controller has
// written by then must not be lost.
func fillDisk(v Victim, _ time.Duration) (heal func(), err error) {
	if os.Geteuid() != 0 {
		return nil, fmt.Errorf("%w: it needs root", ErrNotHere)
	}
	conf, root, err := configuration(v)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(conf)
	if !isSmall(filepath.Join(root, dir)) {
		mount := func() error { return mountSmall(dir) }
		if root == "" {
			err = mount()
		} else if pid, unknown := v.Master(); unknown != nil {
			err = unknown
		} else {
			err = withFilesOf(pid, mount)
		}
		if err != nil {
			return nil, err
		}
	}
	return fillUp(filepath.Join(root, dir))
}

// UnmountDisk takes away the small file system that disk-full has left in a folder of
// ours, if it has. In a container it ends with it.
func UnmountDisk(dir string) error {
	if !isSmall(dir) {
		return nil
	}
	if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
		return fmt.Errorf("taking the small file system away from %s: %w", dir, err)
	}
	return nil
}

// isSmall says whether a folder has its small file system already.
func isSmall(dir string) bool {
	var disk unix.Statfs_t
	return unix.Statfs(dir, &disk) == nil && disk.Type == unix.TMPFS_MAGIC && int64(disk.Blocks)*disk.Bsize == smallDisk
}

// mountSmall mounts an empty file system over a folder and copies what the folder has.
func mountSmall(dir string) error {
	before, err := os.MkdirTemp("/tmp", "windtunnel-disk-") // by its name, as a container may know nothing of TMPDIR
	if err != nil {
		return err
	}
	defer os.RemoveAll(before)
	if err := copyInto(before, dir); err != nil {
		return err
	}
	owner, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=%o", smallDisk, owner.Mode().Perm())); err != nil {
		return fmt.Errorf("%w: mounting a small file system: %w", ErrNotHere, err)
	}
	return errors.Join(chown(dir, owner), copyInto(dir, before))
}

// copyInto copies with modes and owners: nginx's workers read some of it as
// another user.
func copyInto(dir, from string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == from {
			return err
		}
		name, _ := filepath.Rel(from, path) // it is below
		info, err := entry.Info()
		if err != nil {
			return err
		}
		to := filepath.Join(dir, name)
		if entry.IsDir() {
			err = os.Mkdir(to, info.Mode().Perm())
		} else {
			var content []byte
			if content, err = os.ReadFile(path); err == nil {
				err = os.WriteFile(to, content, info.Mode().Perm())
			}
		}
		return errors.Join(err, chown(to, info))
	})
}

func chown(path string, as fs.FileInfo) error {
	owner := as.Sys().(*syscall.Stat_t) // as on any Unix
	return os.Lchown(path, int(owner.Uid), int(owner.Gid))
}

// fillUp leaves no room in the file system of a folder.
func fillUp(dir string) (heal func(), err error) {
	filler, err := os.CreateTemp(dir, "windtunnel-filler-")
	if err != nil {
		return nil, err
	}
	if err := fill(filler); err != nil {
		return nil, err
	}
	return func() { os.Remove(filler.Name()) }, nil
}

// fill writes to a file until there is no room for a byte more.
func fill(file *os.File) error {
	defer file.Close()
	for block := make([]byte, 1<<20); len(block) > 0; {
		switch _, err := file.Write(block); {
		case errors.Is(err, syscall.ENOSPC):
			block = block[:len(block)/2]
		case err != nil:
			return err
		}
	}
	return nil
}
