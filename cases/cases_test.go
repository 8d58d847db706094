// Package cases_test runs all behaviour cases on the bundled controller.
package cases_test

import (
	"path/filepath"
	"testing"

	"windtunnel.dev/internal/built"
	"windtunnel.dev/internal/command"
	"windtunnel.dev/internal/doctor"
)

// The bundled controller passes all cases, or differs as they admit.
func TestBundledController(t *testing.T) {
	if testing.Short() {
		t.Skip("needs nginx; not run with -short")
	}
	if err := doctor.Fit(); err != nil {
		t.Skip("no subject can run on this machine: ", err)
	}
	run := command.New(t.Context(), built.Command(t, "windtunnel"), "case", "run",
		"--bundled", "--controller", built.Command(t, "nginx-ingress-controller"), "-o", filepath.Join(t.TempDir(), "run"), ".")
	if output, err := run.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}
