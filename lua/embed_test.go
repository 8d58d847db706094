package lua_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"windtunnel.dev/lua"
)

func TestWriteIsReadableByEveryoneAndComplete(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	dir := filepath.Join(t.TempDir(), "etc", "lua")
	if err := lua.Write(dir); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(dir, "util.lua")
	if err := os.WriteFile(old, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := lua.Write(dir); err != nil {
		t.Fatal(err)
	}
	err := fs.WalkDir(lua.FS, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		want := fs.FileMode(0o644)
		if entry.IsDir() {
			want = 0o755
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v, want %v", name, info.Mode().Perm(), want)
		}
		if entry.IsDir() {
			return nil
		}
		text, _ := lua.FS.ReadFile(name)
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != string(text) {
			t.Errorf("%s differs from the embedded file (%v)", name, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
