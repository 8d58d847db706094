package local

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ModSecurity writes its audit log below the root, not on this machine.
func TestFirewallLogsBelowTheRoot(t *testing.T) {
	if !HasFirewallRules() {
		t.Skip("this machine lacks Debian's packages libnginx-mod-http-modsecurity and modsecurity-crs")
	}
	root := t.TempDir()
	if err := layOutFirewall(root); err != nil {
		t.Fatal(err)
	}
	for _, file := range firewallFiles {
		text, err := os.ReadFile(filepath.Join(root, file.path))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, " /var/log/") && !strings.HasPrefix(line, "#") || strings.HasPrefix(line, "IncludeOptional") {
				t.Errorf("%s: %s", file.path, line)
			}
		}
	}
}
