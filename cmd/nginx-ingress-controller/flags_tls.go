package main

import "windtunnel.dev/controller/options"

// tlsFlags configure certificates and TLS passthrough.
type tlsFlags struct {
	defaultCertificate name
	passthrough        bool
	completeChains     bool
}

func (f *flags) addTLS() {
	s := f.set
	s.Var(&f.tls.defaultCertificate, "default-ssl-certificate", "namespace/name of the Secret with the certificate of hosts without one; empty: a self-signed certificate")
	s.BoolVar(&f.tls.completeChains, "enable-ssl-chain-completion", false, "download missing intermediate certificates from the URLs in the certificates (caIssuers)")
	s.BoolVar(&f.tls.passthrough, "enable-ssl-passthrough", false, "pass TLS connections of hosts with the annotation ssl-passthrough to their services without terminating them; the controller itself listens on --https-port")
	s.IntVar(&f.ports.SSLProxy, "ssl-passthrough-proxy-port", options.DefaultPorts.SSLProxy, "port of nginx for HTTPS with --enable-ssl-passthrough")
}
