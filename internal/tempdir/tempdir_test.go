package tempdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

func makeDir(t *testing.T) *Dir {
	t.Helper()
	dir, err := Make("test")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func spare(string) error { return nil }

func TestSweepRemovesUnlockedFolders(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	living, shared, dead := makeDir(t), makeDir(t), makeDir(t)
	other := filepath.Join(os.TempDir(), "windtunnel-results-1")
	file := filepath.Join(os.TempDir(), prefix+"test-1")
	if err := errors.Join(os.Mkdir(other, 0o700), os.WriteFile(file, nil, 0o600), os.WriteFile(filepath.Join(dead.Path, "a"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := Hold(shared.Path); err != nil {
		t.Fatal(err)
	}
	shared.Release()
	dead.Release()

	var ended []string
	if err := Sweep(func(path string) error { ended = append(ended, path); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(ended) != 1 || ended[0] != dead.Path {
		t.Errorf("Sweep called end for %v, want only %s", ended, dead.Path)
	}
	for path, want := range map[string]bool{living.Path: true, shared.Path: true, other: true, file: true, dead.Path: false} {
		if exists(path) != want {
			t.Errorf("%s exists: %v, want %v", path, !want, want)
		}
	}
	if _, err := Hold(dead.Path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Hold of a removed folder: %v", err)
	}
}

// The path of os.TempDir is not treated as a pattern.
func TestSweepInAFolderWithBrackets(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "job[1]")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", folder)
	dead := makeDir(t)
	dead.Release()
	if err := Sweep(spare); err != nil || exists(dead.Path) {
		t.Errorf("error %v, the folder exists: %v", err, exists(dead.Path))
	}
}

func TestSweepKeepsFoldersThatCannotBeEnded(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dead := makeDir(t)
	dead.Release()
	if err := Sweep(func(string) error { return errors.New("still running") }); err == nil {
		t.Error("no error")
	}
	if !exists(dead.Path) {
		t.Error("the folder is gone")
	}
}

// Sweep never breaks a Make that has created its folder and not locked it yet.
func TestMakeDuringSweeps(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	done := make(chan struct{})
	var sweeping sync.WaitGroup
	for range 2 {
		sweeping.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					if err := Sweep(spare); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	for range 300 {
		dir := makeDir(t)
		if err := os.WriteFile(filepath.Join(dir.Path, "a"), nil, 0o600); err != nil {
			t.Error(err)
		}
		if err := dir.Remove(); err != nil {
			t.Error(err)
		}
	}
	close(done)
	sweeping.Wait()
}

// Remove keeps the files of file systems that are mounted in the folder.
func TestRemoveUnmounts(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Fatal(err)
	}
	spaced := filepath.Join(t.TempDir(), "two words")
	if err := os.Mkdir(spaced, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{t.TempDir(), link, spaced} {
		t.Setenv("TMPDIR", folder)
		elsewhere := t.TempDir()
		kept := filepath.Join(elsewhere, "kept")
		dir := makeDir(t)
		mount := filepath.Join(dir.Path, "mount")
		if err := errors.Join(os.WriteFile(kept, nil, 0o600), os.Mkdir(mount, 0o700)); err != nil {
			t.Fatal(err)
		}
		if err := unix.Mount(elsewhere, mount, "", unix.MS_BIND, ""); err != nil {
			t.Skip(err)
		}
		err := dir.Remove()
		if err != nil || exists(dir.Path) || !exists(kept) {
			t.Errorf("%s: error %v, the folder exists: %v, the file of the mount: %v", folder, err, exists(dir.Path), exists(kept))
			_ = unix.Unmount(mount, unix.MNT_DETACH)
		}
		if err := dir.Remove(); err != nil {
			t.Errorf("%s: Remove of a removed folder: %v", folder, err)
		}
	}
}
