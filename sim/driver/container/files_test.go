package container

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/sim/adapter"
)

// Copies have the permissions of their originals, unless the adapter has others, and folders are at the
// path that the adapter says.
func TestCopiedFiles(t *testing.T) {
	from := t.TempDir()
	for name, mode := range map[string]os.FileMode{"mime.types": 0o644, "start.sh": 0o755, "conf/a": 0o640, "conf/sub/b": 0o755} {
		file := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("run old"), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil { // whatever the umask
			t.Fatal(err)
		}
	}
	if err := os.Symlink("conf", filepath.Join(from, "link")); err != nil {
		t.Fatal(err)
	}
	original := func(name string) string { return filepath.Join(from, name) }
	for what, test := range map[string]struct {
		file adapter.File
		want []string // path, permissions and content
	}{
		"a text":               {adapter.File{Path: "/etc/a", Content: new("text")}, []string{"/etc/a 0644 text"}},
		"a program":            {adapter.File{Path: "/bin/a", Content: new("text"), Mode: 0o755}, []string{"/bin/a 0755 text"}},
		"a copy":               {adapter.File{Path: "/etc/a", From: original("mime.types")}, []string{"/etc/a 0644 run old"}},
		"with permissions":     {adapter.File{Path: "/etc/a", From: original("mime.types"), Mode: 0o600}, []string{"/etc/a 0600 run old"}},
		"with replaced texts":  {adapter.File{Path: "/bin/a", From: original("start.sh"), Replace: map[string]string{"old": "new"}}, []string{"/bin/a 0755 run new"}},
		"a folder":             {adapter.File{Path: "/etc/nginx", From: original("conf")}, []string{"/etc/nginx/a 0640 run old", "/etc/nginx/sub/b 0755 run old"}},
		"a link to a folder":   {adapter.File{Path: "/etc/nginx", From: original("link")}, []string{"/etc/nginx/a 0640 run old", "/etc/nginx/sub/b 0755 run old"}},
		"one that is missing":  {adapter.File{Path: "/etc/a", From: original("none"), Optional: true}, nil},
		"missing, to replace":  {adapter.File{Path: "/etc/a", From: original("none"), Optional: true, Replace: map[string]string{"old": "new"}}, nil},
		"a folder of an image": {adapter.File{Path: "/var/log"}, nil},
	} {
		files, err := filesOf(test.file)
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		var got []string
		for _, file := range files {
			content, err := os.ReadFile(file.HostFilePath)
			if file.Reader != nil {
				content, err = io.ReadAll(file.Reader)
			}
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
			got = append(got, fmt.Sprintf("%s %04o %s", file.ContainerFilePath, file.FileMode, content))
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", what, got, test.want)
		}
	}
	if _, err := filesOf(adapter.File{Path: "/etc/a", From: original("none")}); err == nil || !strings.Contains(err.Error(), original("none")) {
		t.Errorf("a file that is missing: %v", err)
	}
}
