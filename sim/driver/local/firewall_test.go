package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"windtunnel.dev/adapters"
	"windtunnel.dev/sim/adapter"
)

// ModSecurity writes its audit log below the root, not on this machine. An isolated one has a folder of
// its own for logs.
func TestFirewallLogsBelowTheRoot(t *testing.T) {
	if !HasFirewallRules() {
		t.Skip("this machine lacks Debian's packages libnginx-mod-http-modsecurity and modsecurity-crs")
	}
	a, err := adapters.Find("")
	if err != nil {
		t.Fatal(err)
	}
	for name, help := range map[string]adapter.Help{
		"ours": {Flags: map[string]bool{"nginx-root": true}, Whole: true},
		"fork": {Whole: true},
	} {
		root := t.TempDir()
		setup, err := a.Expand(adapter.Data{Root: root, Controller: "/bin/controller", Help: help})
		if err != nil {
			t.Fatal(err)
		}
		if err := layOut(root, setup.Files); err != nil {
			t.Fatal(err)
		}
		own := " " + root + "/var/log/"
		if setup.Isolation != nil {
			own = " /var/log/nginx/"
		}
		for _, path := range []string{"modsecurity/modsecurity.conf", "modsecurity/unicode.mapping", "owasp-modsecurity-crs/nginx-modsecurity.conf"} {
			text, err := os.ReadFile(filepath.Join(root, "etc/nginx", path))
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				rest := strings.ReplaceAll(line, own, "")
				if strings.Contains(rest, " /var/log/") && !strings.HasPrefix(line, "#") || strings.HasPrefix(line, "IncludeOptional") {
					t.Errorf("%s: %s: %s", name, path, line)
				}
			}
		}
	}
}

func TestLayOutReplacesTextsOfFilesOnly(t *testing.T) {
	root, folder := t.TempDir(), t.TempDir()
	err := layOut(root, []adapter.File{{Path: "copy", From: folder, Replace: map[string]string{"a": "b"}}})
	if err == nil || !strings.Contains(err.Error(), folder+" is a folder") {
		t.Errorf("error %v", err)
	}
}
