package render

import (
	"strconv"

	"windtunnel.dev/controller/model"
)

// proxySSL returns the directives for TLS connections to pods. Their names begin with the module's
// name; the FastCGI module does not support TLS.
func proxySSL(module string, p model.ProxySSL) []string {
	if module == "fastcgi" || p.CAFileName == "" && p.PemFileName == "" {
		return nil
	}
	var lines []string
	add := func(directive, value string) {
		if value != "" {
			lines = append(lines, module+"_ssl_"+directive+" "+value+";")
		}
	}
	file := func(directive, path string) {
		if path != "" {
			add(directive, quote(path))
		}
	}
	file("trusted_certificate", p.CAFileName)
	file("certificate", p.PemFileName)
	file("certificate_key", p.PemFileName)
	add("ciphers", p.Ciphers)
	add("protocols", p.Protocols)
	add("verify", p.Verify)
	add("verify_depth", strconv.Itoa(p.VerifyDepth))
	file("name", p.ProxySSLName)
	add("server_name", p.ProxySSLServerName)
	return lines
}
