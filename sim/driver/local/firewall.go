package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// firewallFile is a file that ModSecurity reads in ingress-nginx's image, and Debian's file with
// the same content.
type firewallFile struct {
	path   string // below the root
	source string
	adapt  func(text, root string) string
}

var firewallFiles = []firewallFile{
	{"etc/nginx/modsecurity/unicode.mapping", "/etc/nginx/unicode.mapping", unchanged},
	{"etc/nginx/modsecurity/modsecurity.conf", "/etc/nginx/modsecurity.conf", logBelowRoot},
	{"etc/nginx/owasp-modsecurity-crs/nginx-modsecurity.conf", "/usr/share/modsecurity-crs/owasp-crs.load", requireIncludes},
}

func unchanged(text, _ string) string { return text }

// logBelowRoot keeps ModSecurity's audit log out of this machine's folder of logs.
func logBelowRoot(text, root string) string {
	return strings.ReplaceAll(text, " /var/log/", " "+root+"/var/log/")
}

// requireIncludes replaces a directive that ModSecurity 3 does not have.
func requireIncludes(text, _ string) string {
	return strings.ReplaceAll(text, "IncludeOptional ", "Include ")
}

// layOutFirewall writes ModSecurity's settings and OWASP's rules below a root, from Debian's packages
// libnginx-mod-http-modsecurity and modsecurity-crs. Files that this machine lacks are left out: the
// controller reports them if an object needs them.
func layOutFirewall(root string) error {
	for _, file := range firewallFiles {
		text, err := os.ReadFile(file.source)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		path := filepath.Join(root, file.path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(file.adapt(string(text), root)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// HasFirewallRules reports whether this machine has the files of layOutFirewall.
func HasFirewallRules() bool {
	for _, file := range firewallFiles {
		if _, err := os.Stat(file.source); err != nil {
			return false
		}
	}
	return true
}
