package render

import (
	"cmp"
	"net"
	"net/netip"
	"strings"

	"windtunnel.dev/controller/annotations"
)

// authNames are the names that external authentication uses in nginx.conf. Unused ones are empty.
// All but Upstream and Signin are quoted.
type authNames struct {
	Location string // the internal location for requests to the authentication service
	Upstream string // the upstream block with keepalive connections to the service
	Target   string // the URL of the authentication request
	CacheKey string // the part of the key of cached responses that does not depend on the request
	Signin   string // the location that redirects clients to SigninURL
}

// authNames returns the names of the location's external authentication, which it must have.
func (l *located) authNames() authNames {
	auth := l.ExternalAuth
	location := buildAuthLocation(l.Location, l.All.Cfg.GlobalExternalAuth.URL)
	names := authNames{Location: quote(location), Target: quote(auth.URL)}
	if scheme, _, _ := hostOf(l.Location.ExternalAuth.URL); shouldApplyAuthUpstream(l.Location, l.All.Cfg) && (scheme == "http://" || scheme == "https://") {
		names.Upstream = buildAuthUpstreamName(l.Location, l.Server.Hostname)
		names.Target = quote(changeHostPort(auth.URL, names.Upstream))
	}
	if auth.AuthCacheKey != "" {
		names.CacheKey = quote(l.Server.Hostname + location + auth.AuthCacheKey)
	}
	if auth.SigninURL != "" {
		names.Signin = buildAuthSignURLLocation(l.Location.Path, auth.SigninURL)
	}
	return names
}

func (l *located) externalAuth() *annotations.ExternalAuth {
	global := &l.All.Cfg.GlobalExternalAuth
	switch {
	case l.open() || l.Denied != "" || l.Location.Redirect.URL != "":
		return nil
	case l.Location.ExternalAuth.URL != "":
		return &l.Location.ExternalAuth
	case shouldApplyGlobalAuth(l.Location, global.URL):
		return global
	}
	return nil
}

// AuthName returns the host of the authentication service if it is a name that must be resolved,
// otherwise "".
func (l *located) AuthName() string {
	host, _ := l.authPeer()
	if _, err := netip.ParseAddr(host); err == nil {
		return ""
	}
	return host
}

// AuthPort returns the service's port, by default that of the URL's scheme.
func (l *located) AuthPort() string {
	_, port := l.authPeer()
	if port == "" && strings.HasPrefix(l.ExternalAuth.URL, "https://") {
		return "443"
	}
	return cmp.Or(port, "80")
}

func (l *located) authPeer() (host, port string) {
	address := extractHostPort(l.ExternalAuth.URL)
	if host, port, err := net.SplitHostPort(address); err == nil {
		return host, port
	}
	return strings.Trim(address, "[]"), ""
}
