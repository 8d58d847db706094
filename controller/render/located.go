package render

import (
	"cmp"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
)

// located is the dot of a location's template: what is worked out from the
// location and the whole.
type located struct {
	All      *root
	Server   *model.Server
	Location *model.Location
	Regex    bool // the server's paths are regular expressions
}

func locationConfig(r *root, s *model.Server, l *model.Location, regex bool) located {
	return located{r, s, l, regex}
}

// Denied says why requests get 503; empty if they do not.
func (l located) Denied() string {
	switch {
	case l.Location.Denied != nil:
		return cmp.Or(*l.Location.Denied, "for no reason given")
	case asksForDigest(l.Location) && !l.All.Has(authDigest):
		return "auth-type digest: nginx has no module " + authDigest
	}
	return l.All.firewallLacks(l.Location)
}

// Protocol is what the location's pods speak, in upper case.
func (l located) Protocol() string {
	if l.Location.Backend == model.DefaultBackendName {
		return "HTTP"
	}
	return cmp.Or(strings.ToUpper(l.Location.BackendProtocol), "HTTP")
}

// Module is the prefix of the directives about requests to pods.
func (l located) Module() string {
	switch l.Protocol() {
	case "GRPC", "GRPCS":
		return "grpc"
	case "FCGI":
		return "fastcgi"
	}
	return "proxy"
}

// SetHeader is the directive that sets a header of requests to the pods.
func (l located) SetHeader() string {
	switch l.Module() {
	case "grpc":
		return "grpc_set_header"
	case "fastcgi":
		return fastCGIParameter
	}
	return "proxy_set_header"
}

// Set begins the directive that sets a header of requests to the pods.
func (l located) Set(name string) string { return l.SetHeader() + " " + l.HeaderName(name) }

// HeaderName is what that directive calls a header.
func (l located) HeaderName(name string) string { return headerName(l.SetHeader(), name) }

// ModSecurity is what the location says of its firewall.
func (l located) ModSecurity() string {
	return modSecurityOf(l.All.Cfg, l.Location, l.All.Path)
}

// NextUpstream is when the next pod is asked: FastCGI does not know of statuses
// of gateways.
func (l located) NextUpstream() string {
	conditions := strings.Fields(buildNextUpstream(l.Location.Proxy.NextUpstream, l.All.Cfg.RetryNonIdempotent))
	if l.Module() == "fastcgi" {
		conditions = slices.DeleteFunc(conditions, func(c string) bool { return c == "http_502" || c == "http_504" })
	}
	return strings.Join(conditions, " ")
}

// Pass hands requests to the pods; without dynamic configuration nginx knows
// them by the name of their backend, or not at all.
func (l located) Pass() string {
	if l.All.DynamicConfiguration {
		return passTo(balancer, l.All.Backends, l.Location)
	}
	if !hasEndpoints(l.All.Backends, l.Location.Backend) {
		return "return 503;"
	}
	return passTo(l.Location.Backend, l.All.Backends, l.Location)
}

// open tells whether nobody has to log in here, by no-auth-locations.
func (l located) open() bool { return isLocationInLocationList(l.Location, l.All.Cfg.NoAuthLocations) }

// Login is the name and password that clients must show; nil for none.
func (l located) Login() *annotations.BasicDigestAuth {
	if !l.Location.BasicDigestAuth.Secured || l.open() {
		return nil
	}
	return &l.Location.BasicDigestAuth
}

// ExternalAuth is the service that is asked about requests; nil for none.
func (l located) ExternalAuth() *annotations.ExternalAuth {
	global := &l.All.Cfg.GlobalExternalAuth
	switch {
	case l.open() || l.Denied() != "" || l.Location.Redirect.URL != "":
		return nil
	case l.Location.ExternalAuth.URL != "":
		return &l.Location.ExternalAuth
	case shouldApplyGlobalAuth(l.Location, global.URL):
		return global
	}
	return nil
}

// AuthPath is the internal location that asks it.
func (l located) AuthPath() string {
	return buildAuthLocation(l.Location, l.All.Cfg.GlobalExternalAuth.URL)
}

// AuthUpstream is the upstream block that keeps connections to it; empty where
// none are kept.
func (l located) AuthUpstream() string {
	scheme, _, _ := hostOf(l.Location.ExternalAuth.URL)
	if !shouldApplyAuthUpstream(l.Location, l.All.Cfg) || scheme != "http://" && scheme != "https://" {
		return ""
	}
	return buildAuthUpstreamName(l.Location, l.Server.Hostname)
}

// AuthName is the host of that service if it is a name, which must be looked up.
func (l located) AuthName() string {
	host, _ := l.authPeer()
	if _, err := netip.ParseAddr(host); err == nil {
		return ""
	}
	return host
}

// AuthPort is its port: that of the scheme unless the URL has another.
func (l located) AuthPort() string {
	_, port := l.authPeer()
	if port == "" && strings.HasPrefix(l.ExternalAuth().URL, "https://") {
		return "443"
	}
	return cmp.Or(port, "80")
}

func (l located) authPeer() (host, port string) {
	address := extractHostPort(l.ExternalAuth().URL)
	if host, port, err := net.SplitHostPort(address); err == nil {
		return host, port
	}
	return strings.Trim(address, "[]"), ""
}

// SigninURL is where clients log in; empty where they are not sent.
func (l located) SigninURL() string {
	if auth := l.ExternalAuth(); auth != nil {
		return auth.SigninURL
	}
	return ""
}

// SigninLocation is the location that sends clients to log in.
func (l located) SigninLocation() string {
	return buildAuthSignURLLocation(l.Location.Path, l.SigninURL())
}

// ErrorUpstream is who answers the location's custom-http-errors.
func (l located) ErrorUpstream() string { return errorUpstreamOf(l.Location) }

// InterceptErrors is on or off where the location differs from the whole,
// else empty.
func (l located) InterceptErrors() string {
	ofAll := len(l.All.Cfg.CustomHTTPErrors) > 0 && !l.All.Cfg.DisableProxyInterceptErrors
	here := len(l.Location.CustomHTTPErrors) > 0 || ofAll
	here = here && !l.Location.DisableProxyInterceptErrors
	if here == ofAll && l.Module() == "proxy" || !here && !ofAll {
		return ""
	}
	return onOff(here)
}

// AnswerHeaders are the headers that answers get, in place of the pods' own:
// add-headers of the ConfigMap, and over them the location's custom-headers.
func (l located) AnswerHeaders() map[string]string {
	headers := maps.Clone(l.All.AddHeaders)
	if headers == nil {
		headers = make(map[string]string)
	}
	maps.Copy(headers, l.Location.CustomHeaders.Headers)
	maps.DeleteFunc(headers, func(name, _ string) bool { return !fits(l.Module(), name) })
	return headers
}

// HideHeaders are the response headers of pods that are hidden from clients.
func (l located) HideHeaders() []string {
	return slices.DeleteFunc(slices.Clone(l.All.Cfg.HideHeaders), func(name string) bool { return !fits(l.Module(), name) })
}

// HeadersToPods are the headers of the ConfigMap.
func (l located) HeadersToPods() map[string]string {
	headers := maps.Clone(l.All.ProxySetHeaders)
	maps.DeleteFunc(headers, func(name, _ string) bool { return !fits(l.SetHeader(), name) })
	return headers
}

// fits reports whether a header's name fits into the hash tables of the module. Those
// of the proxy module are made large enough, see sized.
func fits(directive, header string) bool {
	return strings.HasPrefix(directive, "proxy") || len(header) <= model.LongestHeader
}

// Signins are the locations of a server that send clients to log in, each once.
func (s served) Signins() []located { return s.once(located.signinName) }

// Auths are the locations that ask a service of their own, each once.
func (s served) Auths() []located { return s.once(located.authName) }

func (l located) authName() string {
	if l.ExternalAuth() == nil {
		return ""
	}
	return l.AuthPath()
}

func (l located) authUpstreamName() string {
	if l.ExternalAuth() == nil {
		return ""
	}
	return l.AuthUpstream()
}

func (l located) signinName() string {
	if l.SigninURL() == "" {
		return ""
	}
	return l.SigninLocation()
}

// once are the locations for which name is not empty, one for each name.
func (s served) once(name func(located) string) []located {
	var found []located
	seen := make(map[string]bool)
	for _, location := range s.Second.Locations {
		l := located{All: s.First, Server: s.Second, Location: location}
		if n := name(l); n != "" && !seen[n] {
			seen[n] = true
			found = append(found, l)
		}
	}
	return found
}

// Mirrors are the internal locations that copies of requests go to.
func (s served) Mirrors() []annotations.Mirror { return mirrors(s.Second.Locations) }

// Errors are who answers errors, and which.
func (s served) Errors() []errorUpstream {
	return errorUpstreams(s.Second, s.First.Cfg.CustomHTTPErrors)
}

// AppRoot is where "/" is redirected to; empty: it is not.
func (s served) AppRoot() string {
	i := slices.IndexFunc(s.Second.Locations, func(l *model.Location) bool { return l.Rewrite.AppRoot != "" })
	if i < 0 {
		return ""
	}
	return s.Second.Locations[i].Rewrite.AppRoot
}

// ErrorPass hands an error's request to an upstream.
func (s served) ErrorPass(upstream string) string {
	if s.First.DynamicConfiguration {
		return "proxy_pass http://" + balancer + ";"
	}
	if !hasEndpoints(s.First.Backends, upstream) {
		return "return 503;"
	}
	return "proxy_pass http://" + upstream + ";"
}
