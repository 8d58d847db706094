package simulated

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"windtunnel.dev/sim/fault"
)

// smallDisk is the size of the file system that MountSmall mounts, in bytes.
const smallDisk = 64 << 20

// MountSmall mounts an empty file system over a folder and copies what the folder has.
func MountSmall(dir string) error {
	beside := dir + ".before"
	if err := os.Mkdir(beside, 0o700); err != nil {
		return err
	}
	defer os.RemoveAll(beside)
	if err := copyInto(beside, dir); err != nil {
		return err
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0755", smallDisk)); err != nil {
		return fmt.Errorf("%w: mounting a small file system: %w", fault.ErrNotHere, err)
	}
	return copyInto(dir, beside)
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
		owner := info.Sys().(*syscall.Stat_t) // as on any Unix
		return errors.Join(err, os.Lchown(to, int(owner.Uid), int(owner.Gid)))
	})
}

// FillUp leaves no room in the file system of a folder.
func FillUp(dir string) (heal func(), err error) {
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
