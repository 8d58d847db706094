package template

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func exported(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "mine")
	n, err := Export(folder)
	if err != nil {
		t.Fatal(err)
	}
	if n < 10 {
		t.Fatalf("only %d files were written", n)
	}
	return folder
}

func edit(t *testing.T, file, old, now string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("no %q in %s", old, file)
	}
	if err := os.WriteFile(file, []byte(strings.Replace(string(text), old, now, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestExportedTemplateIsRead(t *testing.T) {
	folder := exported(t)
	before, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	edit(t, filepath.Join(folder, "http.tmpl"), "lua_shared_dict luaconfig 5m;", "lua_shared_dict luaconfig 5m;\n# mine")
	after, err := Read(folder)
	if err != nil {
		t.Fatal(err)
	}
	if before.Text() == after.Text() {
		t.Error("a change of an included file has no effect")
	}
	if got, want := after.Position("# mine"), filepath.Join(folder, "http.tmpl")+":"; !strings.HasPrefix(got, want) {
		t.Errorf("the line is at %s, want %s…", got, want)
	}
}

func TestFileThatIncludesOthers(t *testing.T) {
	folder := exported(t)
	file := filepath.Join(folder, "nginx.tmpl")
	if _, err := Read(file); err == nil || !strings.Contains(err.Error(), file+" includes bottom.tmpl, another file: name the folder, "+folder+", instead") {
		t.Errorf("error %v", err)
	}
	own := filepath.Join(t.TempDir(), "nginx.tmpl")
	if err := os.WriteFile(own, []byte(`{{ define "top.tmpl" }}{{ end }}{{ if . }}{{ template "top.tmpl" . }}{{ end }}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(own); err != nil {
		t.Errorf("a file that defines what it includes: %v", err)
	}
}

func TestExportOverwritesNothing(t *testing.T) {
	folder := exported(t)
	edit(t, filepath.Join(folder, "top.tmpl"), "daemon off;", "daemon off; # mine")
	if _, err := Export(folder); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error %v, want fs.ErrExist", err)
	}
	text, err := os.ReadFile(filepath.Join(folder, "top.tmpl"))
	if err != nil || !strings.Contains(string(text), "# mine") {
		t.Errorf("the existing file is gone: %v", err)
	}
}

func TestErrorsHavePositions(t *testing.T) {
	folder := exported(t)
	edit(t, filepath.Join(folder, "http.tmpl"), "lua_shared_dict luaconfig 5m;", "{{ if }}")
	_, err := Read(folder)
	if err == nil || !strings.HasPrefix(err.Error(), filepath.Join(folder, "http.tmpl")+":") {
		t.Errorf("error %v", err)
	}
	if err := os.Remove(filepath.Join(folder, "nginx.tmpl")); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(folder); err == nil || !strings.Contains(err.Error(), folder+": no nginx.tmpl") {
		t.Errorf("error %v", err)
	}
	if _, err := Read(filepath.Join(folder, "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
