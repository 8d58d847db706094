package built

import (
	"os/exec"
	"testing"
)

func TestCommandRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("links a command; not run with -short")
	}
	if out, err := exec.Command(Command(t, "nginx-ingress-controller"), "--version").CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
