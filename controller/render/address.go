package render

import "slices"

// nginx reads the client's address from one source: the PROXY protocol or a header. If
// both are trusted, the client is that of the header if the peer from the PROXY
// protocol is a trusted proxy (proxy-real-ip-cidr), else that peer, as in
// ingress-nginx. To do so, Lua combines both into one header, with the peer last,
// and nginx reads that header from its end.

// relayed reports whether connections can start with a PROXY protocol header. With
// TLS passthrough the controller listens on the HTTPS port and sends that header.
func (r *root) relayed() bool { return r.Cfg.UseProxyProtocol || r.IsSSLPassthroughEnabled }

// believesHeader reports whether the client's address is read from a header.
func (r *root) believesHeader() bool {
	return r.Cfg.UseForwardedHeaders || r.Cfg.EnableRealIP && !r.Cfg.UseProxyProtocol
}

// RealIPHeader is the header with the client's address; empty if it is the address
// of the peer.
func (r *root) RealIPHeader() string {
	switch {
	case r.relayed():
		return "proxy_protocol"
	case r.believesHeader():
		return r.Cfg.ForwardedForHeader
	}
	return ""
}

// RealIPFrom are the trusted networks: those of the ConfigMap, if others than the
// controller are trusted, and the controller's own address.
func (r *root) RealIPFrom() []string {
	var trusted []string
	if r.Cfg.UseProxyProtocol || r.believesHeader() {
		trusted = slices.Clone(r.Cfg.ProxyRealIPCIDR)
	}
	if r.IsSSLPassthroughEnabled {
		trusted = append(trusted, "127.0.0.1")
	}
	return trusted
}

// AddressChain is the header that Lua makes; empty if it is not needed. It differs from
// forwarded-for-proxy-protocol-header, because another controller in front of this one
// may send that.
func (r *root) AddressChain() string {
	if !r.relayed() || !r.believesHeader() {
		return ""
	}
	return r.Cfg.ForwardedForProxyProtocolHeader + "-Chain"
}
