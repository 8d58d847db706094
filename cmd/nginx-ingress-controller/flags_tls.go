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
	s.Var(&f.tls.defaultCertificate, "default-ssl-certificate", "namespace/name of the Secret with the certificate for hosts without one; empty: a self-signed certificate that the controller generates")
	s.BoolVar(&f.tls.completeChains, "enable-ssl-chain-completion", false, "complete certificate chains with intermediate certificates, downloaded from the URLs in the certificates (caIssuers)")
	s.BoolVar(&f.tls.passthrough, "enable-ssl-passthrough", false, "pass TLS connections for hosts with the annotation ssl-passthrough to their services without decryption; the controller itself then listens on --https-port")
	s.IntVar(&f.ports.SSLProxy, "ssl-passthrough-proxy-port", options.DefaultPorts.SSLProxy, "HTTPS port of nginx with --enable-ssl-passthrough")
}
