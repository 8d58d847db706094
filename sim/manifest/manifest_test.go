package manifest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/internal/readfile"
)

func TestParseRecordsLines(t *testing.T) {
	const file = `# a comment
---

apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
# nothing here
--- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Secret, metadata: {name: c}}
- {apiVersion: v1, kind: Secret, metadata: {name: d}}
`
	all, err := Parse("f.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range all {
		got = append(got, fmt.Sprintf("%d %s", m.Line, m.Object.GetName()))
	}
	if text := strings.Join(got, ", "); text != "4 a, 9 b, 11 c, 11 d" {
		t.Errorf("parsed %s", text)
	}
}

func TestParseOfNothing(t *testing.T) {
	for _, text := range []string{"", "# x\n", "~\n", "{kind: List, apiVersion: v1, items: null}", "{kind: IngressList, apiVersion: networking.k8s.io/v1, items: []}"} {
		if all, err := Parse("f.yaml", []byte(text)); len(all) > 0 || err != nil {
			t.Errorf("%q: %v, %v", text, all, err)
		}
	}
}

func TestParseReportsProblems(t *testing.T) {
	for text, want := range map[string]string{
		"apiVersion: windtunnel.dev/v1\nkind: Case\nspec: {}\n":      "f.yaml:1: a Case of windtunnel is not an object of a cluster: name a file with manifests",
		"\napiVersion: v1\nkind: ConfigMap\nmetadata: {}\n":          "f.yaml:2: a ConfigMap without metadata.name",
		"a: b\n---\napiVersion: v1\nkind: X\nmetadata: {name: n}":    "f.yaml:1: no kind: a manifest needs apiVersion and kind",
		"kind: ConfigMap\nmetadata: {name: n}":                       "f.yaml:1: no apiVersion: a manifest needs apiVersion and kind",
		"apiVersion: v1\n---\nkind: A\nkind: B\n":                    "f.yaml:4: not YAML: ",
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: [\n": "not YAML: ",
		"kind: List\napiVersion: v1\nitems: {a: b}":                  "f.yaml:1: items is not a list",
		"# x\nkind: List\napiVersion: v1\nitems: [1]":                "f.yaml:2: item 1: not a Kubernetes object",
		"- 1\n": "f.yaml:1: not a Kubernetes object, which is a mapping with apiVersion and kind",
	} {
		if _, err := Parse("f.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestLoadReadsFolders(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"b/two.json": `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"two"}}`,
		"a.yml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n", "note.txt": "not read", "index.json": `{"schema":"windtunnel.dev/corpus/v1","clusters":[]}`} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Load(dir)
	if err != nil || len(all) != 2 || all[0].Object.GetName() != "one" || all[1].Object.GetName() != "two" {
		t.Errorf("loaded %v, %v", all, err)
	}
	if _, err := Load(filepath.Join(dir, "none.yaml"), t.TempDir()); err == nil || !strings.Contains(err.Error(), "none.yaml") || !strings.Contains(err.Error(), "no .yaml") {
		t.Errorf("missing file and empty folder: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("apiVersion: v1\nkind: List\nitems: [{apiVersion: v1, kind: A, metadata: {name: n}}]\n---\n"))
	f.Add([]byte("--- \n--- {a: b}\n%YAML\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := Parse("f", data)
		lines := strings.Count(string(data), "\n") + 1
		for _, m := range all {
			if m.Line < 1 || m.Line > lines || m.Object == nil {
				t.Errorf("line %d of %d, object %v", m.Line, lines, m.Object)
			}
		}
		if err != nil && !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("the error has no location: %v", err)
		}
	})
}

func TestTooLargeFileIsAnErrorWithAdvice(t *testing.T) {
	file := filepath.Join(t.TempDir(), "dump.yaml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, Largest+1); err != nil { // a sparse file
		t.Fatal(err)
	}
	_, err := Load(file)
	if !errors.Is(err, readfile.ErrTooLarge) {
		t.Fatalf("the error is %v, want %v", err, readfile.ErrTooLarge)
	}
	for _, want := range []string{file, "more than 67108864 bytes", "leave out Secrets that no ingress uses"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error %q does not contain %q", err, want)
		}
	}
}

// Files that Windtunnel wrote are recognised by their beginning, so their size does not matter.
func TestLoadLeavesOutOwnFiles(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "result.json")
	if err := os.WriteFile(own, []byte(`{"schema":"windtunnel.dev/result/v1"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(own, Largest+1); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "one.yaml"), []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, link} {
		if all, err := Load(path); err != nil || len(all) != 1 || all[0].File != filepath.Join(path, "one.yaml") {
			t.Errorf("loaded %v, %v", all, err)
		}
	}
}
