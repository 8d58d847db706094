package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A project file has one document: a second one would be ignored.
func TestProjectFileHasOneDocument(t *testing.T) {
	file := filepath.Join(t.TempDir(), projectFile)
	for text, want := range map[string]string{
		"regress: {}\nhistory: {}\n":      "",
		"# nothing yet\n":                 "",
		"regress: {}\n---\nhistory: {}\n": ":2: a second YAML document",
		"regress: {}\n---\nhistory: {\n":  "did not find expected",
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, got, err := readProject(file)
		if want == "" && (err != nil || string(got) != text) {
			t.Errorf("%q: %v", text, err)
		}
		if want != "" && (err == nil || !strings.HasPrefix(err.Error(), file) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}
