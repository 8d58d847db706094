package isolated

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// devices are the devices of the machine that a command with a root of its own sees.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// deviceLinks are links in /dev that programs and images rely on.
var deviceLinks = map[string]string{
	"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
}

// enterRoot makes the folder Root the root of this process, in its own mount namespace. Of the machine's
// files, only /sys, which is read-only, and a few devices remain visible.
func (v View) enterRoot() error {
	if err := bind(v.Root, v.Root); err != nil { // pivot_root needs a mount
		return err
	}
	if err := v.mountSystem(); err != nil {
		return err
	}
	folders, err := v.openFolders()
	if err != nil {
		return err
	}
	if err := unix.Chdir(v.Root); err != nil {
		return fmt.Errorf("enter %s: %w", v.Root, err)
	}
	// pivot_root(2): with both paths the same, the old root is mounted over the new one.
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("make %s the root: %w", v.Root, err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("leave the machine's root: %w", err)
	}
	if err := unix.Chdir("/"); err != nil {
		return err
	}
	return attach(folders)
}

// openFolders opens the folders as mounts, by their paths in the view, because the machine's files are
// out of reach later.
func (v View) openFolders() (map[string]int, error) {
	opened := map[string]int{}
	for path, folder := range v.Folders {
		mount, err := unix.OpenTree(unix.AT_FDCWD, folder, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
		if err != nil {
			return nil, fmt.Errorf("open %s as a mount: %w", folder, err)
		}
		opened[path] = mount
	}
	return opened, nil
}

// attach attaches open mounts at their paths. The new root is in use, so links in these paths are
// resolved in it.
func attach(mounts map[string]int) error {
	for _, path := range slices.Sorted(maps.Keys(mounts)) {
		if err := os.MkdirAll(path, 0o755); err != nil {
			return fmt.Errorf("make a place for %s: %w", path, err)
		}
		if err := unix.MoveMount(mounts[path], "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_SYMLINKS); err != nil {
			return fmt.Errorf("mount a folder at %s: %w", path, err)
		}
		unix.Close(mounts[path])
	}
	return nil
}

// mountSystem mounts /proc, /sys and /dev in the root.
func (v View) mountSystem() error {
	root, err := os.OpenRoot(v.Root) // it refuses links that lead out of it
	if err != nil {
		return err
	}
	defer root.Close()
	for _, folder := range []string{"proc", "sys", "dev"} {
		if err := root.MkdirAll(folder, 0o755); err != nil {
			return fmt.Errorf("make a place for /%s: %w", folder, err)
		}
		if info, err := root.Lstat(folder); err != nil || !info.IsDir() {
			return fmt.Errorf("%s is no folder", filepath.Join(v.Root, folder))
		}
	}
	if err := v.mountProcesses(filepath.Join(v.Root, "proc")); err != nil {
		return err
	}
	sys := filepath.Join(v.Root, "sys")
	if err := bind("/sys", sys); err != nil {
		return err
	}
	if err := unix.MountSetattr(unix.AT_FDCWD, sys, unix.AT_RECURSIVE, &unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}); err != nil {
		return fmt.Errorf("make /sys read-only: %w", err)
	}
	return mountDevices(filepath.Join(v.Root, "dev"))
}

// mountDevices mounts a file system in memory with a few devices of the machine.
func mountDevices(dev string) error {
	if err := unix.Mount("windtunnel", dev, "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "mode=0755"); err != nil {
		return fmt.Errorf("mount a file system in memory at /dev: %w", err)
	}
	for _, name := range devices {
		place := filepath.Join(dev, name)
		if err := os.WriteFile(place, nil, 0o666); err != nil {
			return err
		}
		if err := bind("/dev/"+name, place); err != nil {
			return err
		}
	}
	for name, target := range deviceLinks {
		if err := os.Symlink(target, filepath.Join(dev, name)); err != nil {
			return err
		}
	}
	shared := filepath.Join(dev, "shm")
	if err := os.Mkdir(shared, 0o777); err != nil {
		return err
	}
	return os.Chmod(shared, 0o777|os.ModeSticky) // whatever the umask
}
