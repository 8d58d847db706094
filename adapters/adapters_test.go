package adapters_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/adapters"
	"windtunnel.dev/sim/adapter"
	"windtunnel.dev/sim/measure"
)

func TestFiles(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	if err != nil || len(files) != len(adapters.All()) {
		t.Fatalf("%d files, %d adapters, %v", len(files), len(adapters.All()), err)
	}
	for _, path := range files {
		a, err := adapter.Load(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if a.Name+".yaml" != path {
			t.Errorf("%s is named %s", path, a.Name)
		}
		if len(a.Tried) == 0 {
			t.Errorf("%s does not say which versions it was tried with", path)
		}
	}
}

func TestFind(t *testing.T) {
	byDefault, err := adapters.Find("")
	if err != nil || byDefault.Name != adapters.Default {
		t.Errorf("the default: %v, %v", byDefault, err)
	}
	text, err := os.ReadFile(adapters.Default + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(own, []byte(strings.Replace(string(text), "metadata: {name: ingress-nginx}", "metadata: {name: own}", 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	if a, err := adapters.Find(own); err != nil || a.Name != "own" {
		t.Errorf("by path: %v, %v", a, err)
	}
	for name, want := range map[string]string{"ingress-nginks": "did you mean ingress-nginx?", "./missing.yaml": "missing.yaml"} {
		if _, err := adapters.Find(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %s", name, err, want)
		}
	}
}

// The names that adapters can declare not applicable are measurements.
func TestMeasurements(t *testing.T) {
	for _, name := range adapter.Measurements {
		if err := measure.CheckName(name); err != nil {
			t.Error(err)
		}
	}
}
