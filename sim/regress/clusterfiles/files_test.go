package clusterfiles_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/corpus/clusters"
	"windtunnel.dev/sim/regress/clusterfiles"
)

// A case is a cluster with its ConfigMap and its services.
func TestCasesAreClusters(t *testing.T) {
	file := filepath.Join(t.TempDir(), "topic", "gzip.yaml")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	const text = `apiVersion: windtunnel.dev/v1
kind: Case
spec:
  summary: answers are compressed
  covers: [config/use-gzip]
  config: {use-gzip: "true"}
  pods: {web: {}}
  steps:
  - request: GET http://gzip.example/
    expect: {status: 200}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec:
  rules:
  - host: gzip.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
`
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	all, _, err := clusterfiles.Read([]string{file, filepath.Dir(file)}, behave.Known{Config: []string{"use-gzip"}})
	if err != nil || len(all) != 1 {
		t.Fatalf("%d clusters, %v; want one for a file that is named twice", len(all), err)
	}
	if manifests, _, err := clusterfiles.ReadManifests([]string{file}); err != nil || len(manifests) > 0 {
		t.Errorf("a case is a file of manifests: %v, %v", manifests, err)
	}
	source, err := all[0].Source()
	if err != nil {
		t.Fatal(err)
	}
	if len(source.Ingresses()) != 1 || len(source.Services()) != 1 || len(source.ConfigMaps()) != 1 || source.ConfigMaps()[0].Data["use-gzip"] != "true" {
		t.Errorf("%v %v %v", source.Ingresses(), source.Services(), source.ConfigMaps())
	}
}

// The flags of a corpus are those of all clusters in its index; conflicting flags are an error.
func TestFlagsOfACorpus(t *testing.T) {
	folder := t.TempDir()
	index := clusters.Index{Clusters: []clusters.Entry{
		{Name: "one", Flags: []string{"--configmap=a/b", "--default-backend-service=a/c"}},
		{Name: "two", Flags: []string{"--configmap=a/b"}},
		{Name: "other", Flags: []string{"--configmap=a/other"}},
	}}
	data, err := index.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, clusters.IndexFile), data, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, entry := range index.Clusters {
		if err := os.WriteFile(filepath.Join(folder, entry.File()), []byte("{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	all, flags, err := clusterfiles.Read([]string{filepath.Join(folder, "one.yaml"), filepath.Join(folder, "two.yaml")}, behave.Known{})
	if want := map[string]string{"configmap": "a/b", "default-backend-service": "a/c"}; err != nil || len(all) != 2 || !maps.Equal(flags, want) {
		t.Errorf("%d clusters, flags %q, %v; want %q", len(all), flags, err, want)
	}
	if _, _, err := clusterfiles.Read([]string{folder}, behave.Known{}); err == nil || !strings.Contains(err.Error(), "--configmap=a/b and --configmap=a/other") {
		t.Errorf("flags that differ: %v", err)
	}
}

// Files that differ only in their extensions are two clusters, and errors name the file.
func TestNamesOfClusters(t *testing.T) {
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n")
	write("a.json", "{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n")
	write("b.yaml", "{apiVersion: v1, kind: Namespace, metadata: {name: a}}\n")
	all, _, err := clusterfiles.Read([]string{folder, folder}, behave.Known{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range all {
		name, err := filepath.Rel(folder, c.Name)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if want := []string{"a.json", "a.yaml", "b"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	write("b.yaml", "a: b\n")
	if _, _, err := clusterfiles.Read([]string{folder}, behave.Known{}); err == nil || !strings.Contains(err.Error(), "b.yaml:1: no kind") {
		t.Errorf("a file without kind: %v", err)
	}
}

// A comment or blank lines before the first document do not hide that a file is a case.
func TestCaseAfterComment(t *testing.T) {
	text, err := os.ReadFile("../../../cases/redirects/app-root.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "case.yaml")
	if err := os.WriteFile(file, append([]byte("# what it shows\n---\n"), text...), 0o600); err != nil {
		t.Fatal(err)
	}
	all, _, err := clusterfiles.Read([]string{file}, behave.Known{})
	if err != nil || len(all) != 1 || !all[0].Case {
		t.Errorf("%+v, %v: want a case", all, err)
	}
}
