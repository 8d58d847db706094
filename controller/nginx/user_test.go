package nginx

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// If nginx was built to run its workers as root, Unprivileged names another user.
func TestWorkersAreNotRootByDefault(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only an nginx started by root has workers of another user")
	}
	if testing.Short() {
		t.Skip("needs nginx; not run with -short")
	}
	real, err := exec.LookPath("nginx")
	if err != nil {
		t.Skip(err)
	}
	for built, want := range map[string]string{"": "", " --user=daemon": "", " --user=root": nobody + " ", " --user=none-such": nobody + " "} {
		binary := filepath.Join(t.TempDir(), "nginx")
		script := "#!/bin/sh\n[ \"$1\" = -V ] || exec " + real + " \"$@\"\n" + real + " -V 2>&1 | sed 's/^configure arguments:/&" + strings.ReplaceAll(built, "/", `\/`) + "/' >&2\n"
		if err := os.WriteFile(binary, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		n, err := Find(binary)
		if err != nil {
			t.Fatal(err)
		}
		got, err := n.Unprivileged()
		if err != nil || !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("built with%q: user %q, %v", built, got, err)
		}
	}
}
