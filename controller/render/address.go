package render

import "slices"

// nginx takes the client's address from one place: the PROXY protocol, or a
// header. Where both are believed, it is the client of the header if the peer
// that the PROXY protocol names is a trusted proxy (proxy-real-ip-cidr), else
// that peer, as in ingress-nginx. Then Lua makes one header of both, the peer
// last, which nginx reads from its end.

// relayed tells whether connections can begin with the PROXY protocol's header.
// With TLS passthrough the controller, which has the port of HTTPS, sends it.
func (r *root) relayed() bool { return r.Cfg.UseProxyProtocol || r.IsSSLPassthroughEnabled }

// believesHeader tells whether the client's address is what a header says.
func (r *root) believesHeader() bool {
	return r.Cfg.UseForwardedHeaders || r.Cfg.EnableRealIP && !r.Cfg.UseProxyProtocol
}

// RealIPHeader is where nginx finds the client's address; empty where it is the
// address that has connected.
func (r *root) RealIPHeader() string {
	switch {
	case r.relayed():
		return "proxy_protocol"
	case r.believesHeader():
		return r.Cfg.ForwardedForHeader
	}
	return ""
}

// RealIPFrom are the networks whose word is taken: those of the ConfigMap, if
// anybody besides the controller is believed, and the controller.
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

// AddressChain is the header that Lua makes; empty where there is no need of it.
// It is not forwarded-for-proxy-protocol-header itself, which another controller
// before this one may send.
func (r *root) AddressChain() string {
	if !r.relayed() || !r.believesHeader() {
		return ""
	}
	return r.Cfg.ForwardedForProxyProtocolHeader + "-Chain"
}
