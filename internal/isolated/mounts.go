package isolated

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// setUp gives the mount namespace of this process the folders of the view. It changes mounts only.
func (v View) setUp() error {
	if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("keep mounts to ourselves: %w", err)
	}
	if v.Root != "" {
		return v.enterRoot()
	}
	m := mounts{scratch: v.Scratch, rebuilt: map[string]bool{}}
	for _, path := range slices.Sorted(maps.Keys(v.Folders)) {
		if err := m.point(path); err != nil {
			return fmt.Errorf("make a place for %s: %w", path, err)
		}
		if err := bind(v.Folders[path], path); err != nil {
			return err
		}
	}
	return v.mountProcesses("/proc")
}

// mountProcesses mounts the /proc of the command at a path.
func (v View) mountProcesses(path string) error {
	if !v.Processes {
		if path == "/proc" {
			return nil
		}
		return bind("/proc", path)
	}
	if err := unix.Mount("proc", path, "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	return nil
}

// mounts creates mount points.
type mounts struct {
	scratch string          // "" once it is in use: a file system in memory is mounted there
	memory  string          // that file system
	rebuilt map[string]bool // the folders that are ours
}

// point ensures that a folder exists at a path. If it does not exist, the nearest existing parent
// is replaced by a folder in memory that has the same entries and in which the missing folder can
// be created.
func (m *mounts) point(path string) error {
	if info, err := os.Stat(path); err == nil {
		if !info.IsDir() {
			return errors.New("it is no folder")
		}
		return nil
	}
	parent := filepath.Dir(path)
	for {
		if _, err := os.Stat(parent); err == nil {
			break
		}
		parent = filepath.Dir(parent)
	}
	real, err := filepath.EvalSymlinks(parent) // Debian's /var/run is a link to /run
	if err != nil {
		return err
	}
	if real == "/" {
		return errors.New("the machine's root has no such folder")
	}
	if !m.rebuilt[real] {
		if err := m.rebuild(real); err != nil {
			return fmt.Errorf("rebuild %s: %w", real, err)
		}
	}
	return os.MkdirAll(filepath.Join(real, strings.TrimPrefix(path, parent)), 0o755)
}

// rebuild replaces a folder by one in memory that has the same entries.
func (m *mounts) rebuild(folder string) error {
	if m.memory == "" {
		if err := unix.Mount("windtunnel", m.scratch, "tmpfs", 0, "mode=0755"); err != nil {
			return fmt.Errorf("mount a file system in memory: %w", err)
		}
		m.memory = m.scratch
	}
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	made := filepath.Join(m.memory, strings.ReplaceAll(folder, "/", "_"))
	if err := os.Mkdir(made, 0o755); err != nil {
		return err
	}
	if err := os.Chmod(made, info.Mode()); err != nil { // with the sticky bit of /tmp
		return err
	}
	for _, entry := range entries {
		err := m.repeat(filepath.Join(folder, entry.Name()), filepath.Join(made, entry.Name()), entry.Type())
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // it was removed in the meantime
			return err
		}
	}
	m.rebuilt[folder] = true
	return bind(made, folder)
}

// repeat makes an entry of a folder appear in another one.
func (m *mounts) repeat(from, to string, kind fs.FileMode) error {
	switch {
	case kind&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(target, to)
	case kind.IsDir():
		if err := os.Mkdir(to, 0o755); err != nil {
			return err
		}
		if strings.HasPrefix(m.memory, from+"/") { // without our own mounts, which are below it
			return unix.Mount(from, to, "", unix.MS_BIND, "")
		}
	default:
		file, err := os.Create(to)
		if err != nil {
			return err
		}
		file.Close()
	}
	return bind(from, to)
}

// bind makes a file or folder, with the mounts below it, appear at a second path.
func bind(from, to string) error {
	if err := unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("mount %s at %s: %w", from, to, err)
	}
	return nil
}
