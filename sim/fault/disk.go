package fault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/prometheus/procfs"
	"golang.org/x/sys/unix"
)

// ofDisk are the faults of where the controller writes.
var ofDisk = []Fault{
	{Name: "disk-full", Doc: "The file system of nginx's configuration is full. It needs root.", Strikes: "writes", Lasts: true, Root: true,
		strike: fillDisk},
}

// smallDisk is what the file system that is filled calls its source: the mark by
// which it is known.
const smallDisk = "windtunnel-disk"

// smallest is the size of one that begins with little in it, in bytes.
const smallest = 64 << 20

// fillDisk puts a small file system of its own where nginx.conf lies, with all that
// is there, and fills it to the brim; where nginx is in a container, only there is
// it seen. It stays when it is healed, with room again: what the controller has
// written by then must not be lost. It goes with the folder that it is in, or with the
// container. It counts the files there that were opened for writing while the disk
// was full.
func fillDisk(v Victim, _ time.Duration) (over, error) {
	m, conf, err := configuration(v)
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(conf)
	small, err := isSmall(m.pid, filepath.Join(m.root, dir))
	if err == nil && !small {
		mount := func() error { return mountSmall(dir) }
		if m.root == "" {
			err = mount()
		} else {
			err = withFilesOf(m.pid, mount)
		}
	}
	if err != nil {
		return nil, err
	}
	filler, err := fill(filepath.Join(m.root, dir))
	if err != nil {
		return nil, err
	}
	writes, err := watchWrites(filepath.Join(m.root, dir))
	if err != nil {
		return nil, errors.Join(err, filler.Close())
	}
	return func() int {
		struck, err := writes.count()
		if err != nil {
			v.Trouble("who wrote to a full disk is not known", err.Error())
		}
		if err := filler.Close(); err != nil {
			v.Trouble("a full disk was not healed", err.Error())
		}
		return struck
	}, nil
}

// isSmall says whether a folder, as we find it, has its small file system already,
// among those that a process sees.
func isSmall(pid int, dir string) (bool, error) {
	var folder unix.Stat_t
	if err := unix.Stat(dir, &folder); errors.Is(err, os.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("looking at %s: %w", dir, err)
	}
	mounts, err := procfs.GetProcMounts(pid)
	if err != nil {
		return false, fmt.Errorf("looking for the file system of %s: %w", dir, err)
	}
	device := fmt.Sprintf("%d:%d", unix.Major(folder.Dev), unix.Minor(folder.Dev))
	return slices.ContainsFunc(mounts, func(m *procfs.MountInfo) bool {
		return m.Source == smallDisk && m.MajorMinorVer == device
	}), nil
}

// mountSmall mounts an empty file system over a folder and copies what the folder has.
// When it is healed, the controller must find room there for all of it once more, and
// for more.
func mountSmall(dir string) error {
	before, err := os.MkdirTemp("/tmp", "windtunnel-disk-") // by its name, as a container may know nothing of TMPDIR
	if err != nil {
		return err
	}
	defer os.RemoveAll(before)
	bytes, err := copyInto(before, dir)
	if err != nil {
		return err
	}
	owner, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if err := unix.Mount(smallDisk, dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=%o", max(smallest, 4*bytes), owner.Mode().Perm())); err != nil {
		return fmt.Errorf("%w: mounting a small file system: %w", ErrNotHere, err)
	}
	_, err = copyInto(dir, before)
	if err = errors.Join(chown(dir, owner), err); err != nil { // nginx would miss what was not copied
		return errors.Join(err, unix.Unmount(dir, unix.MNT_DETACH))
	}
	return nil
}

// copyInto copies with modes and owners: nginx's workers read some of it as
// another user. It returns how much it was.
func copyInto(dir, from string) (bytes int64, err error) {
	err = filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
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
				bytes += int64(len(content))
				err = os.WriteFile(to, content, info.Mode().Perm())
			}
		}
		return errors.Join(err, chown(to, info))
	})
	return bytes, err
}

func chown(path string, as fs.FileInfo) error {
	owner := as.Sys().(*syscall.Stat_t) // as on any Unix
	return os.Lchown(path, int(owner.Uid), int(owner.Gid))
}

// fill leaves no room in the file system of a folder, until the file is closed: it
// has no name, so its room is free again then, whoever has ended meanwhile.
func fill(dir string) (*os.File, error) {
	filler, err := os.OpenFile(dir, unix.O_TMPFILE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	for block := make([]byte, 1<<20); len(block) > 0; {
		switch _, err := filler.Write(block); {
		case errors.Is(err, syscall.ENOSPC):
			block = block[:len(block)/2]
		case err != nil:
			filler.Close()
			return nil, err
		}
	}
	return filler, nil
}
