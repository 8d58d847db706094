package plan_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"windtunnel.dev/controller/model"
)

// summarizeTLS writes how a host meets its clients; a host without a
// certificate of its own has no line.
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

// summarizeSecrets writes what of a model is neither in a server nor a backend.
func summarizeSecrets(text *strings.Builder, m *model.Model) {
	if m.DefaultSSLCertificate.Name != "" {
		fmt.Fprintf(text, "default certificate %s\n", certificateName(&m.DefaultSSLCertificate))
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

// outlinesTLS tells whether a line of nginx.conf about TLS is of one host.
func outlinesTLS(line string) bool {
	for _, prefix := range []string{"ssl_client_", "ssl_crl", "ssl_verify_", "error_page 495", "if ($ssl_", "return 403", "proxy_ssl_", "grpc_ssl_", "real_ip_header proxy_protocol"} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return strings.Contains(line, " ssl-client-") || strings.HasPrefix(line, "listen ") && strings.Contains(line, "proxy_protocol")
}
