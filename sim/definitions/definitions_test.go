package definitions_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/definitions"
)

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
`

func TestFilesAndFolders(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "widgets.yaml")
	if err := os.WriteFile(file, []byte(widgets), 0o644); err != nil {
		t.Fatal(err)
	}
	found, err := definitions.Read(t.Context(), []adapter.CRDs{{Path: file}, {Path: dir}})
	if err != nil || len(found) != 2 || found[0].GetName() != "widgets.example.com" {
		t.Errorf("%v, %v", found, err)
	}
}

// TestModules downloads a module from a proxy in a folder, so it needs no network.
func TestModules(t *testing.T) {
	proxy := t.TempDir()
	publish(t, proxy, "example.com/widgets", "v1.0.0", map[string]string{
		"go.mod": "module example.com/widgets\n", "crd/widgets.yaml": widgets, "other/other.txt": "nothing",
	})
	t.Setenv("GOPROXY", "file://"+proxy)
	t.Setenv("GOSUMDB", "off")
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-modcacherw") // so that the test can remove it
	found, err := definitions.Read(t.Context(), []adapter.CRDs{{Module: "example.com/widgets@v1.0.0", Path: "crd"}})
	if err != nil || len(found) != 1 || found[0].GetName() != "widgets.example.com" {
		t.Errorf("%v, %v", found, err)
	}
	for module, want := range map[string]string{
		"example.com/widgets@v2.0.0": "definitions of example.com/widgets@v2.0.0: ",
		"example.com/absent@v1.0.0":  "definitions of example.com/absent@v1.0.0: ",
	} {
		if _, err := definitions.Read(t.Context(), []adapter.CRDs{{Module: module, Path: "crd"}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", module, err, want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	_, err = definitions.Read(t.Context(), []adapter.CRDs{{Module: "example.com/widgets@v1.0.0", Path: "crd"}})
	if err == nil || !strings.Contains(err.Error(), "install Go") {
		t.Errorf("without Go: %v", err)
	}
}

// publish lays out a module as a proxy serves it.
func publish(t *testing.T, proxy, name, version string, files map[string]string) {
	t.Helper()
	source, folder := t.TempDir(), filepath.Join(proxy, name, "@v")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range files {
		write(filepath.Join(source, path), text)
	}
	write(filepath.Join(folder, version+".info"), `{"Version":"`+version+`"}`)
	write(filepath.Join(folder, version+".mod"), files["go.mod"])
	out, err := os.Create(filepath.Join(folder, version+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(zip.CreateFromDir(out, module.Version{Path: name, Version: version}, source), out.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestFilesWithoutDefinitions(t *testing.T) {
	file := filepath.Join(t.TempDir(), "other.yaml")
	if err := os.WriteFile(file, []byte("{apiVersion: v1, kind: ConfigMap, metadata: {name: other}}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{file: "other.yaml has none", filepath.Join(t.TempDir(), "absent"): "no such file"} {
		if _, err := definitions.Read(t.Context(), []adapter.CRDs{{Path: path}}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
}
