package rule

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"windtunnel.dev/controller/model"
)

// summarizeTLS writes the TLS settings of a host. A host without its own certificate has no line.
func summarizeTLS(text *strings.Builder, s *model.Server) {
	note := func(format string, args ...any) { fmt.Fprintf(text, "  "+format+"\n", args...) }
	if c := s.SSLCert; c != nil && s.Hostname != model.DefaultServerName {
		note("certificate %s", certificateName(c))
	}
	if a := s.CertificateAuth; a.CAFileName != "" {
		note("clients' certificates %+v", a)
	}
	if s.AuthTLSError != "" {
		note("closed: %s", s.AuthTLSError)
	}
	if p := s.ProxySSL; p.Secret != "" {
		note("TLS to pods %+v", p)
	}
}

func certificateName(c *model.SSLCert) string {
	return cmp.Or(strings.Trim(c.Namespace+"/"+c.Name, "/"), "the controller's own") + " of " + strings.Join(c.CN, ", ")
}

// summarizeSecrets writes the parts of a model that belong to no server or backend.
func summarizeSecrets(text *strings.Builder, m *model.Model) {
	if m.DefaultSSLCertificate.Name != "" {
		fmt.Fprintf(text, "default certificate %s\n", certificateName(m.DefaultSSLCertificate))
	}
	for _, p := range m.PassthroughBackends {
		fmt.Fprintf(text, "TLS of %s goes to %s\n", p.Hostname, p.Address)
	}
	for _, path := range slices.Sorted(maps.Keys(m.Files)) {
		switch {
		case strings.HasSuffix(path, "/default-fake-certificate.pem"):
		case strings.HasSuffix(path, ".passwd"):
			fmt.Fprintf(text, "file %s\n  %s\n", path, strings.Join(strings.Fields(string(m.Files[path])), "\n  "))
		default:
			fmt.Fprintf(text, "file %s\n", path)
		}
	}
}
