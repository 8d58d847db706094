package readfile

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"folder/b/two.yml", "folder/a.yaml", "folder/note.txt"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("folder", "link"); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]string{
		"folder":          {"folder/a.yaml", "folder/b/two.yml"},
		"folder/":         {"folder/a.yaml", "folder/b/two.yml"},
		"link":            {"link/a.yaml", "link/b/two.yml"},
		"folder/note.txt": {"folder/note.txt"},
	} {
		if files, err := Files(path, ".yaml", ".yml"); err != nil || !slices.Equal(files, want) {
			t.Errorf("%s: %v, %v, want %v", path, files, err, want)
		}
	}
	if files, err := Files("absent", ".yaml"); err == nil {
		t.Errorf("an absent path gives %v", files)
	}
}

func TestGlob(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "runs[1]")
	file := filepath.Join(folder, "a", "result.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := Glob(folder, "*/result.json"); err != nil || !slices.Equal(found, []string{file}) {
		t.Errorf("found %v, %v", found, err)
	}
	if found, err := Glob(filepath.Join(folder, "absent"), "*"); err != nil || len(found) > 0 {
		t.Errorf("found %v, %v", found, err)
	}
}
