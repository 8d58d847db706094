package files_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"windtunnel.dev/controller/files"
)

// patience bounds every wait. It elapses only if a test fails.
const patience = 20 * time.Second

// follower reads a file at each change that Watch reports.
type follower struct {
	*testing.T
	path    string
	changes chan struct{}
}

func follow(t *testing.T, path string, watched ...string) follower {
	t.Helper()
	f := follower{t, path, make(chan struct{}, 1000)}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	if err := files.Watch(t.Context(), log, func() { f.changes <- struct{}{} }, watched...); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f follower) want(content string) {
	f.Helper()
	timeout := time.After(patience)
	for {
		select {
		case <-f.changes:
			if text, _ := os.ReadFile(f.path); string(text) == content {
				return
			}
		case <-timeout:
			f.Fatalf("no reported change makes the content %q", content)
		}
	}
}

// change waits for one reported change.
func (f follower) change() {
	f.Helper()
	select {
	case <-f.changes:
	case <-time.After(patience):
		f.Fatal("no change is reported")
	}
}

func (f follower) must(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func TestWritesAndRenames(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "nginx.tmpl")
	f := follow(t, path, path) // it does not exist yet
	f.must(os.WriteFile(path, []byte("one"), 0o644))
	f.want("one")
	f.must(os.WriteFile(path, []byte("two"), 0o644))
	f.want("two")
	f.must(os.WriteFile(filepath.Join(dir, "new"), []byte("three"), 0o644))
	f.must(os.Rename(filepath.Join(dir, "new"), path))
	f.want("three")
	f.must(os.WriteFile(path, []byte("four"), 0o644)) // the new file is followed, too
	f.want("four")
}

// A mounted ConfigMap: nginx.tmpl -> ..data/nginx.tmpl, ..data -> ..1.
func TestSwappedLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	path := at("nginx.tmpl")
	version := func(name, content string) {
		if err := os.Mkdir(at(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(at(name), "nginx.tmpl"), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	version("..1", "one")
	if err := os.Symlink("..1", at("..data")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("..data/nginx.tmpl", path); err != nil {
		t.Fatal(err)
	}
	f := follow(t, path, path)
	for name, content := range map[string]string{"..2": "two", "..3": "three"} {
		version(name, content)
		f.must(os.Symlink(name, at("..data_tmp")))
		f.must(os.Rename(at("..data_tmp"), at("..data")))
		f.want(content)
	}
}

// The path is a link, and its target is written in place.
func TestLinkTarget(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "real.tmpl")
	path := filepath.Join(t.TempDir(), "nginx.tmpl")
	if err := os.WriteFile(elsewhere, []byte("one"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, path); err != nil {
		t.Fatal(err)
	}
	f := follow(t, path, path)
	f.must(os.WriteFile(elsewhere, []byte("two"), 0o644))
	f.want("two")
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "GeoLite2-City.mmdb")
	f := follow(t, path, dir)
	f.must(os.WriteFile(path, []byte("one"), 0o644))
	f.want("one")
}

// The folder is replaced, and is missing long enough for Watch to notice.
func TestFolderThatComesBack(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "templates")
	path := filepath.Join(dir, "nginx.tmpl")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f := follow(t, path, path)
	f.must(os.RemoveAll(dir))
	f.change()
	f.must(os.Mkdir(dir, 0o755))
	f.must(os.WriteFile(path, []byte("one"), 0o644))
	f.want("one")
	f.must(os.WriteFile(path, []byte("two"), 0o644))
	f.want("two")
}

func TestMissingFolder(t *testing.T) {
	if err := files.Watch(context.Background(), slog.Default(), func() {}, filepath.Join(t.TempDir(), "nothing", "x")); err == nil {
		t.Error("no error for a folder that does not exist")
	}
}
