package render

import (
	"fmt"
	"strings"

	"windtunnel.dev/controller/model"
)

// buildHTTPListener returns the listen directives of a host for HTTP.
func buildHTTPListener(r *root, host string) string {
	return listeners(r, host, r.ListenPorts.HTTP, r.Cfg.UseProxyProtocol, "")
}

// buildHTTPSListener returns the listen directives of a host for TLS.
func buildHTTPSListener(r *root, host string) string {
	tls := " ssl"
	if r.Cfg.UseHTTP2 && !r.HTTP2Directive {
		tls += " http2"
	}
	if r.IsSSLPassthroughEnabled { // the controller listens on the port, and sends the client's address
		return listeners(r, host, r.ListenPorts.SSLProxy, true, tls)
	}
	return listeners(r, host, r.ListenPorts.HTTPS, r.Cfg.UseProxyProtocol, tls)
}

func listeners(r *root, host string, port int, proxyProtocol bool, protocol string) string {
	var lines []string
	for _, address := range listenAddresses(r) {
		line := fmt.Sprintf("listen %s%d", address, port)
		if proxyProtocol {
			line += " proxy_protocol"
		}
		if host == model.DefaultServerName {
			line += socketOptions(r) // once for each address and port
		}
		lines = append(lines, line+protocol+";")
	}
	return strings.Join(lines, "\n")
}

func socketOptions(r *root) string {
	options := " default_server"
	if r.Cfg.ReusePort {
		options += " reuseport"
	}
	return fmt.Sprintf("%s backlog=%d", options, r.BacklogSize)
}

// listenAddresses returns the prefixes of the port: the configured addresses, otherwise all
// addresses of the machine.
func listenAddresses(r *root) []string {
	v4, v6 := r.Cfg.BindAddressIpv4, r.Cfg.BindAddressIpv6
	if len(v4)+len(v6) == 0 {
		v4, v6 = []string{""}, []string{"[::]"}
	}
	var addresses []string
	for _, address := range v4 {
		if address != "" {
			address += ":"
		}
		addresses = append(addresses, address)
	}
	if r.IsIPV6Enabled {
		for _, address := range v6 {
			addresses = append(addresses, address+":")
		}
	}
	return addresses
}
