package nginx_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/internal/nginxtest"
)

// If nginx was built to run its workers as root, Unprivileged names another user.
func TestWorkersAreNotRootByDefault(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only an nginx started by root has workers of another user")
	}
	program, _ := nginxtest.Find(t)
	real := program.Binary
	for built, want := range map[string]string{"": "", " --user=daemon": "", " --user=root": "nobody ", " --user=none-such": "nobody "} {
		binary := filepath.Join(t.TempDir(), "nginx")
		script := "#!/bin/sh\n[ \"$1\" = -V ] || exec " + real + " \"$@\"\n" + real + " -V 2>&1 | sed 's/^configure arguments:/&" + strings.ReplaceAll(built, "/", `\/`) + "/' >&2\n"
		if err := os.WriteFile(binary, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		got, err := mustFind(t, binary).Unprivileged()
		if err != nil || !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("built with %q: user %q, %v", built, got, err)
		}
	}
}
