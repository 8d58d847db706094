package render

import "slices"

// nginx reads the client's address from one source: the PROXY protocol or a header. If both are
// trusted, the client is, as in ingress-nginx, the header's if the peer from the PROXY protocol is
// a trusted proxy (proxy-real-ip-cidr), otherwise that peer. So Lua combines both into one header,
// with the peer last, and nginx reads that header from its end.

// relayed reports whether connections can start with a PROXY protocol header. With TLS passthrough
// the controller listens on the HTTPS port and sends that header.
func (r *root) relayed() bool { return r.Cfg.UseProxyProtocol || r.IsSSLPassthroughEnabled }

// trustsHeader reports whether nginx reads the client's address from a header.
func (r *root) trustsHeader() bool {
	return r.Cfg.UseForwardedHeaders || r.Cfg.EnableRealIP && !r.Cfg.UseProxyProtocol
}

// RealIPHeader returns the value of real_ip_header, or "" if the client's address is that of the
// peer.
func (r *root) RealIPHeader() string {
	switch {
	case r.relayed():
		return "proxy_protocol"
	case r.trustsHeader():
		return r.Cfg.ForwardedForHeader
	}
	return ""
}

// RealIPFrom returns the trusted networks: those of the ConfigMap, if proxies other than the
// controller are trusted, and the controller's own address.
func (r *root) RealIPFrom() []string {
	var trusted []string
	if r.Cfg.UseProxyProtocol || r.trustsHeader() {
		trusted = slices.Clone(r.Cfg.ProxyRealIPCIDR)
	}
	if r.IsSSLPassthroughEnabled {
		trusted = append(trusted, "127.0.0.1")
	}
	return trusted
}

// AddressChain returns the name of the header that Lua builds, or "" if it is not needed. It
// differs from forwarded-for-proxy-protocol-header, which another controller in front of this one
// may send.
func (r *root) AddressChain() string {
	if !r.relayed() || !r.trustsHeader() {
		return ""
	}
	return r.Cfg.ForwardedForProxyProtocolHeader + "-Chain"
}
