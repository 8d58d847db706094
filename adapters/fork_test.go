package adapters_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"windtunnel.dev/internal/forktest"
	"windtunnel.dev/internal/isolated"
	"windtunnel.dev/sim/behave"
	"windtunnel.dev/sim/behave/run"
	"windtunnel.dev/sim/driver/local"
	"windtunnel.dev/sim/measure"
	"windtunnel.dev/sim/subject"
)

// forked returns a fork of ingress-nginx as a subject: the parts of a folder laid out like its image.
func forked(t *testing.T) subject.Subject {
	t.Helper()
	if err := isolated.Allowed(); err != nil {
		t.Skip(err)
	}
	root := forktest.Root(t)
	in := func(path string) string { return filepath.Join(root, path) }
	return subject.Subject{Name: "fork", Controller: in(forktest.Controller), Nginx: in(forktest.Nginx), Lua: in(forktest.Lua), Template: in(forktest.Template)}
}

// forkedImage returns the fork as an image in a file.
func forkedImage(t *testing.T) subject.Subject {
	t.Helper()
	if err := isolated.Allowed(); err != nil || os.Geteuid() != 0 {
		t.Skip("an image needs root and namespaces: ", err)
	}
	return subject.Subject{Name: "fork", Controller: subject.ImagePrefix + forktest.File(t)}
}

// stubFile writes an image of the stub that answers requests itself.
func stubFile(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("packs an image; not run with -short")
	}
	root := t.TempDir()
	program, err := os.ReadFile(self(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "stub"), program, 0o755); err != nil {
		t.Fatal(err)
	}
	forktest.AddLibraries(t, root, self(t))
	return forktest.Save(t, stubTag, forktest.Image(t, root, runtime.GOARCH, func(c *v1.Config) { c.Entrypoint = []string{"/stub"} }))
}

// stubTag is the name of the stub's image.
const stubTag = "windtunnel.test/stub:v1"

// A fork runs with its own template and Lua code, which both change answers. The bundled controller
// fails the same case.
func TestCaseOnAFork(t *testing.T) {
	t.Run("folder", func(t *testing.T) { askFork(t, forked(t), behave.Passed) })
	t.Run("image", func(t *testing.T) { askFork(t, forkedImage(t), behave.Passed) })
	t.Run("bundled", func(t *testing.T) {
		plain := filepath.Join(filepath.Dir(forked(t).Nginx), "../local/bin/bundled")
		askFork(t, subject.Subject{Name: "bundled", Controller: plain}, behave.Failed)
	})
}

func askFork(t *testing.T, s subject.Subject, want behave.Outcome) {
	t.Helper()
	t.Parallel()
	text, err := os.ReadFile("testdata/fork-case.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c, err := behave.Parse("fork-case.yaml", text, behave.Known{})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	results, err := run.Do(t.Context(), run.Options{Cases: []*behave.Case{c}, Driver: local.Driver{}, Subject: s, Dir: dir, Installations: 1})
	if err != nil || results[0].Outcome != want {
		t.Errorf("%v: %+v", err, results)
	}
}

// A fork is measured like any other subject.
func TestScenarioOnAFork(t *testing.T) {
	t.Run("folder", func(t *testing.T) { checkFork(t, forked(t)) })
	t.Run("image", func(t *testing.T) { checkFork(t, forkedImage(t)) })
}

func checkFork(t *testing.T, f subject.Subject) {
	t.Helper()
	s := rollingUpdate(t, f)
	check(t, s)
	checkNginx(t, s)
}

// An image of any controller runs through its adapter.
func TestImageOfAnotherController(t *testing.T) {
	if err := isolated.Allowed(); err != nil || os.Geteuid() != 0 {
		t.Skip("an image needs root and namespaces: ", err)
	}
	checkSingle(t, rollingUpdate(t, subject.Subject{Adapter: testAdapter(t, "single"), Controller: subject.ImagePrefix + stubFile(t)}))
}

// checkNginx checks a subject whose proxy is nginx.
func checkNginx(t *testing.T, s measure.Subject) {
	t.Helper()
	if s.Workers.Most == 0 || s.Workers.Crashed != 0 || s.CPU.Controller == 0 {
		t.Errorf("workers %+v, CPU %+v", s.Workers, s.CPU)
	}
}
