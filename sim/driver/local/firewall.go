package local

import (
	"os"
	"strings"

	"windtunnel.dev/adapters"
)

// HasFirewallRules reports whether this machine has all files of ModSecurity that the default adapter
// copies: its settings and OWASP's rules.
func HasFirewallRules() bool {
	a, err := adapters.Find(adapters.Default)
	if err != nil {
		return false
	}
	for _, file := range a.Files {
		if !strings.Contains(file.Path, "modsecurity") {
			continue
		}
		if _, err := os.Stat(file.From); err != nil {
			return false
		}
	}
	return true
}
