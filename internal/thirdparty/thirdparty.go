// Package thirdparty provides programs of other projects to tests. Its one rule: tests build these
// programs, which takes minutes, only on request.
package thirdparty

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/internal/command"
)

// Variable is the environment variable with which tests build missing programs, if its value is
// "build".
const Variable = "WINDTUNNEL_THIRD_PARTY"

// missing is the exit code of hack/third-party --cached for a program that is not in the cache.
const missing = 3

// Program returns the path of a program that hack/third-party knows. If it is not in the cache, the
// test is skipped or, with WINDTUNNEL_THIRD_PARTY=build, the program is built.
func Program(t testing.TB, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skipf("needs %s; not run with -short", name)
	}
	arguments := []string{"--cached", name}
	if os.Getenv(Variable) == "build" {
		arguments = arguments[1:]
	}
	path, err := command.New(t.Context(), filepath.Join(root(t), "hack", "third-party"), arguments...).Output()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == missing:
		t.Skipf("%s; or set %s=build", strings.TrimSpace(string(exit.Stderr)), Variable)
	case errors.As(err, &exit):
		t.Skipf("%s cannot be had: %s", name, exit.Stderr)
	case err != nil:
		t.Fatal(err)
	}
	return strings.TrimSpace(string(path))
}

// root returns the folder of this module.
func root(t testing.TB) string {
	t.Helper()
	file, err := command.New(t.Context(), "go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(strings.TrimSpace(string(file)))
}
