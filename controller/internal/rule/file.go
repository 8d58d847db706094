package rule

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"windtunnel.dev/controller/model"
	"windtunnel.dev/controller/snapshot"
)

// File is one rule: a txtar archive. Its YAML files are input, the others are output.
type File struct {
	Path string
	txtar.Archive
}

// Files returns the rules in a folder.
func Files(t testing.TB, folder string) []*File {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no rules in %s: %v", folder, err)
	}
	var files []*File
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, &File{path, *archive})
	}
	return files
}

// Name returns the name of the file without its extension.
func (f *File) Name() string { return strings.TrimSuffix(filepath.Base(f.Path), ".txtar") }

// Input returns the archive without its output.
func (f *File) Input() txtar.Archive {
	isOutput := func(part txtar.File) bool { return !strings.HasSuffix(part.Name, ".yaml") }
	return txtar.Archive{Comment: f.Comment, Files: slices.DeleteFunc(slices.Clone(f.Archive.Files), isOutput)}
}

// Has reports whether the archive has a file of that name.
func (f *File) Has(name string) bool { return f.text(name) != nil }

func (f *File) text(name string) []byte {
	for _, part := range f.Archive.Files {
		if part.Name == name {
			return part.Data
		}
	}
	return nil
}

// Cluster returns the objects of cluster.yaml.
func (f *File) Cluster(t testing.TB) snapshot.Source { return f.Source(t, "cluster.yaml") }

// Source returns the objects of a file. It is empty if the archive does not have the file.
func (f *File) Source(t testing.TB, name string) snapshot.Source {
	t.Helper()
	source, err := snapshot.FromYAML(snapshot.File{Name: name, Data: f.text(name)})
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// Options returns the flags and the ConfigMap's data from a file such as options.yaml. They are
// empty if the archive does not have the file.
func (f *File) Options(t testing.TB, name string) (Flags, map[string]string) {
	t.Helper()
	var given struct {
		Flags  Flags             `json:"flags"`
		Config map[string]string `json:"config"`
	}
	if err := yaml.UnmarshalStrict(f.text(name), &given); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return given.Flags, given.Config
}

// Findings formats findings as the lines of a golden file.
func Findings(findings []model.Finding) string {
	var text strings.Builder
	for _, finding := range findings {
		fmt.Fprintln(&text, finding)
	}
	return text.String()
}
