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

// ofDisk are the faults of the disk that the controller writes to.
var ofDisk = []Fault{
	{Name: "disk-full", Doc: "The file system of nginx's configuration is full. It needs root.", Strikes: "writes", Lasts: true, Root: true, Needs: Configuration,
		strike: fillDisk},
}

// smallDisk is the source of the mount that the fault makes; the fault recognizes the mount by it.
const smallDisk = "windtunnel-disk"

// smallest is the least size of the file system, in bytes.
const smallest = 64 << 20

// fillDisk mounts a small file system over the folder of nginx.conf, copies the folder's files into
// it, and fills it completely. If nginx runs in a container, the mount is visible only there.
// Healing frees space but keeps the mount, so that files written in the meantime are not lost. The
// mount goes with the folder or the container. The fault counts the files of the folder that were
// opened for writing while the disk was full.
func fillDisk(v Victim, _ time.Duration) (endFunc, error) {
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
	filler, err := fill(m.pid, filepath.Join(m.root, dir))
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
			v.Trouble("how many writes met a full disk is not known", err.Error())
		}
		if err := filler.Close(); err != nil {
			v.Trouble("a full disk was not healed", err.Error())
		}
		return struck
	}, nil
}

// isSmall reports whether a folder, whose path is ours, already has the small file system among the
// mounts that a process sees.
func isSmall(pid int, dir string) (bool, error) {
	var folder unix.Stat_t
	if err := unix.Stat(dir, &folder); errors.Is(err, os.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("looking at %s: %w", dir, err)
	}
	return isSmallDevice(pid, folder.Dev)
}

// isSmallDevice reports whether a device is the small file system of a process's mounts.
func isSmallDevice(pid int, device uint64) (bool, error) {
	mounts, err := procfs.GetProcMounts(pid)
	if err != nil {
		return false, fmt.Errorf("looking for the small file system: %w", err)
	}
	number := fmt.Sprintf("%d:%d", unix.Major(device), unix.Minor(device))
	return slices.ContainsFunc(mounts, func(m *procfs.MountInfo) bool {
		return m.Source == smallDisk && m.MajorMinorVer == number
	}), nil
}

// mountSmall mounts an empty file system over a folder and copies the folder's files into it. The
// file system is large enough that, after healing, the controller can write all of them again and
// more.
func mountSmall(dir string) error {
	before, err := os.MkdirTemp("/tmp", "windtunnel-disk-") // not TMPDIR, which may not exist in the container
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
	if err = errors.Join(chown(dir, owner), err); err != nil { // nginx would miss files that were not copied
		return errors.Join(err, unix.Unmount(dir, unix.MNT_DETACH))
	}
	return nil
}

// copyInto copies a folder's files with their modes and owners, because nginx's workers read some
// of them as another user. It returns their size in bytes.
func copyInto(dir, from string) (bytes int64, err error) {
	err = filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == from {
			return err
		}
		name, _ := filepath.Rel(from, path) // path is below from
		info, err := entry.Info()
		if err != nil {
			return err
		}
		to := filepath.Join(dir, name)
		if err := copyEntry(to, path, info); err != nil {
			return err
		}
		bytes += info.Size()
		return chown(to, info)
	})
	return bytes, err
}

// copyEntry copies a file or a link, or makes a folder like another one.
func copyEntry(to, from string, info fs.FileInfo) error {
	switch {
	case info.IsDir():
		return os.Mkdir(to, info.Mode().Perm())
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	}
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, content, info.Mode().Perm())
}

func chown(path string, as fs.FileInfo) error {
	owner := as.Sys().(*syscall.Stat_t) // as on any Unix
	return os.Lchown(path, int(owner.Uid), int(owner.Gid))
}

// fill takes all space in the file system of a folder, which must be the small one of a process's
// mounts, until the returned file is closed. The file has no name, so the kernel frees the space in
// any case when the harness ends.
func fill(pid int, dir string) (*os.File, error) {
	filler, err := os.OpenFile(dir, unix.O_TMPFILE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if err := fillSmall(pid, filler); err != nil {
		return nil, errors.Join(err, filler.Close())
	}
	return filler, nil
}

// fillSmall writes to an open file until its file system is full. The mount may have gone since it was
// made, with nginx's container for example. Then the file is on the machine's own disk, and nothing is
// written.
func fillSmall(pid int, filler *os.File) error {
	var file unix.Stat_t
	if err := unix.Fstat(int(filler.Fd()), &file); err != nil {
		return err
	}
	if small, err := isSmallDevice(pid, file.Dev); err != nil {
		return err
	} else if !small {
		return fmt.Errorf("the small file system at %s has gone", filler.Name())
	}
	for block := make([]byte, 1<<20); len(block) > 0; {
		switch _, err := filler.Write(block); {
		case errors.Is(err, syscall.ENOSPC):
			block = block[:len(block)/2]
		case err != nil:
			return err
		}
	}
	return nil
}
