package export_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"windtunnel.dev/internal/export"
)

var files = fstest.MapFS{
	"a.lua":       {Data: []byte("a"), Mode: 0o444},
	"util/b.lua":  {Data: []byte("b"), Mode: 0o444},
	"util/c/.lua": {Data: []byte("c"), Mode: 0o444},
}

func TestFilesAreWritten(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder")
	if n, err := export.Files(folder, files); n != 3 || err != nil {
		t.Fatalf("%d files, error %v", n, err)
	}
	for name, file := range files {
		path := filepath.Join(folder, name)
		if text, err := os.ReadFile(path); err != nil || string(text) != string(file.Data) {
			t.Errorf("%s: %q, error %v", name, text, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode()&0o200 == 0 {
			t.Errorf("%s cannot be edited: mode %v, error %v", name, info.Mode(), err)
		}
	}
}

func TestNoFileIsOverwritten(t *testing.T) {
	folder := t.TempDir()
	mine := filepath.Join(folder, "util", "b.lua")
	if err := os.Mkdir(filepath.Dir(mine), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(mine, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := export.Files(folder, files); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error %v, want one that the file exists", err)
	}
	if text, err := os.ReadFile(mine); err != nil || string(text) != "mine" {
		t.Errorf("%q, error %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(folder, "a.lua")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a.lua was written: %v", err)
	}
}
