package compile_test

import (
	"strings"
)

// outline returns the parts of nginx.conf that determine who answers which requests: the upstream
// blocks, and the locations of each host with the directives that pass requests on.
func outline(conf []byte) string {
	var kept []string
	inStream := false
	for line := range strings.Lines(string(conf)) {
		line = strings.TrimSpace(line)
		directive, value, _ := strings.Cut(strings.TrimRight(line, " {;"), " ")
		inStream = inStream || line == "stream {"
		switch {
		case inStream && line != "" && line != "}":
			kept = append(kept, line) // this block is short
		case outlinesTLS(line):
			kept = append(kept, "  "+line)
		case directive == "upstream", directive == "server_name", directive == "server" && value != "":
			kept = append(kept, line)
		case directive == "location" && strings.Contains(line, `"`):
			kept = append(kept, "  "+line)
		case directive == "proxy_pass", line == "return 503;":
			kept = append(kept, "    "+line)
		case directive == "set" && (strings.HasPrefix(value, "$location_path") || strings.HasPrefix(value, "$proxy_upstream_name") && strings.Contains(value, "-") && !strings.Contains(value, `"-"`)):
			kept = append(kept, "    "+line)
		}
	}
	return strings.Join(kept, "\n")
}

// outlinesTLS reports whether a line of nginx.conf concerns the TLS of one host.
func outlinesTLS(line string) bool {
	for _, prefix := range []string{"ssl_client_", "ssl_crl", "ssl_verify_", "error_page 495", "if ($ssl_", "return 403", "proxy_ssl_", "grpc_ssl_", "real_ip_header proxy_protocol"} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return strings.Contains(line, " ssl-client-") || strings.HasPrefix(line, "listen ") && strings.Contains(line, "proxy_protocol")
}
