package apply

import (
	"os"
	"path/filepath"
	"testing"

	"windtunnel.dev/controller/plan"
)

func TestTracersFilesFollowTheState(t *testing.T) {
	f := newFixture(t)
	changed := f.layout.path("/etc/ingress-controller/telemetry/opentelemetry.toml")
	gone, fresh := f.layout.path("/etc/nginx/opentracing.json"), f.layout.path("/etc/nginx/new/otel.toml")
	with := func(answer string, files map[string][]byte) plan.State {
		state := f.state(answer, "[]")
		state.Tracing = files
		return state
	}
	f.must(f.reach(with("one", map[string][]byte{changed: []byte("1"), gone: []byte("{}")})))
	if info, err := os.Stat(changed); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("%v, %v: nginx's workers cannot read it", info, err)
	}

	// A state that nginx rejects leaves the files as they were.
	next := map[string][]byte{changed: []byte("2"), fresh: []byte("new")}
	bad := with("two", next)
	bad.Conf = bad.Conf.Append([]byte("nonsense;\n"))
	if _, err := f.reach(bad); err == nil {
		t.Fatal("no error")
	}
	if err := f.target.Try(t.Context(), with("two", next)); err != nil {
		t.Error(err)
	}
	f.wantFile(changed, []byte("1"))
	f.wantFile(gone, []byte("{}"))
	f.wantNoFile(fresh)

	f.must(f.reach(with("two", next)))
	f.wantFile(changed, []byte("2"))
	f.wantFile(fresh, []byte("new"))
	f.wantNoFile(gone)
}

func TestWritable(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, []byte("kept"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		file:                             true,
		filepath.Join(folder, "a/b/c"):   true,
		folder:                           false, // a directory
		filepath.Join(file, "below"):     false,
		"/proc/no/such/directory/x.toml": false,
	} {
		if err := Writable(path); (err == nil) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "kept" {
		t.Errorf("the file contains %q, %v", text, err)
	}
	if entries, _ := os.ReadDir(filepath.Join(folder, "a/b")); len(entries) > 0 {
		t.Errorf("Writable left files: %v", entries)
	}
}
