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

// located is the dot of a location's template. Its methods derive values from the location and the
// root.
type located struct {
	All      *root
	Server   *model.Server
	Location *model.Location
	Regex    bool // the server's paths are regular expressions
}

func locationConfig(r *root, s *model.Server, l *model.Location, regex bool) located {
	return located{r, s, l, regex}
}

// Denied returns the reason why requests get 503, or "".
func (l located) Denied() string {
	switch {
	case l.Location.Denied != nil:
		return cmp.Or(*l.Location.Denied, "no reason given")
	case asksForDigest(l.Location) && !l.All.Has(authDigest):
		return "auth-type digest: nginx has no module " + authDigest
	}
	return l.All.firewallLacks(l.Location)
}

// Protocol returns the protocol of the location's pods in upper case.
func (l located) Protocol() string {
	if l.Location.Backend == model.DefaultBackendName {
		return "HTTP"
	}
	return cmp.Or(strings.ToUpper(l.Location.BackendProtocol), "HTTP")
}

// Module returns the prefix of the directives for requests to pods.
func (l located) Module() string {
	switch l.Protocol() {
	case "GRPC", "GRPCS":
		return "grpc"
	case "FCGI":
		return "fastcgi"
	}
	return "proxy"
}

// SetHeader returns the directive that sets a header of requests to pods.
func (l located) SetHeader() string {
	switch l.Module() {
	case "grpc":
		return "grpc_set_header"
	case "fastcgi":
		return fastCGIParameter
	}
	return "proxy_set_header"
}

// Set returns the beginning of the directive that sets a header of requests to pods.
func (l located) Set(name string) string { return l.SetHeader() + " " + l.HeaderName(name) }

// HeaderName returns a header's name as that directive expects it.
func (l located) HeaderName(name string) string { return headerName(l.SetHeader(), name) }

// ModSecurity returns the location's ModSecurity directives.
func (l located) ModSecurity() string {
	return modSecurityOf(l.All.Cfg, l.Location, l.All.Path)
}

// StreamsBody reports whether nginx passes the bodies of requests on while it receives them. For
// gRPC it always does.
func (l located) StreamsBody() bool {
	return l.Module() == "grpc" || l.Location.Proxy.RequestBuffering == "off"
}

// NextUpstream returns the conditions under which nginx tries the next pod. FastCGI does not
// support http_502 and http_504.
func (l located) NextUpstream() string {
	conditions := strings.Fields(buildNextUpstream(l.Location.Proxy.NextUpstream, l.All.Cfg.RetryNonIdempotent))
	if l.Module() == "fastcgi" {
		conditions = slices.DeleteFunc(conditions, func(c string) bool { return c == "http_502" || c == "http_504" })
	}
	return strings.Join(conditions, " ")
}

// Pass returns the directive that passes requests to the pods. Without dynamic configuration, their
// upstream has the name of the backend, or does not exist if there are no endpoints.
func (l located) Pass() string {
	if l.All.DynamicConfiguration {
		return passTo(balancer, l.All.Backends, l.Location)
	}
	if !hasEndpoints(l.All.Backends, l.Location.Backend) {
		return "return 503;"
	}
	return passTo(l.Location.Backend, l.All.Backends, l.Location)
}

// open reports whether no-auth-locations exempts the location from authentication.
func (l located) open() bool { return isLocationInLocationList(l.Location, l.All.Cfg.NoAuthLocations) }

// Login returns the basic or digest authentication of the location, or nil.
func (l located) Login() *annotations.BasicDigestAuth {
	if !l.Location.BasicDigestAuth.Secured || l.open() {
		return nil
	}
	return &l.Location.BasicDigestAuth
}

// ExternalAuth returns the external authentication of the location, or nil.
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

// AuthPath returns the name of the internal location for external authentication.
func (l located) AuthPath() string {
	return buildAuthLocation(l.Location, l.All.Cfg.GlobalExternalAuth.URL)
}

// AuthUpstream returns the name of the upstream block with keepalive connections to the
// authentication service, or "" if it uses none.
func (l located) AuthUpstream() string {
	scheme, _, _ := hostOf(l.Location.ExternalAuth.URL)
	if !shouldApplyAuthUpstream(l.Location, l.All.Cfg) || scheme != "http://" && scheme != "https://" {
		return ""
	}
	return buildAuthUpstreamName(l.Location, l.Server.Hostname)
}

// AuthName returns the host of the authentication service if it is a name that must be resolved,
// otherwise "".
func (l located) AuthName() string {
	host, _ := l.authPeer()
	if _, err := netip.ParseAddr(host); err == nil {
		return ""
	}
	return host
}

// AuthPort returns the service's port, which defaults to that of the URL's scheme.
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

// SigninURL returns the URL at which clients sign in, or "".
func (l located) SigninURL() string {
	if auth := l.ExternalAuth(); auth != nil {
		return auth.SigninURL
	}
	return ""
}

// SigninLocation returns the name of the location that redirects clients to SigninURL.
func (l located) SigninLocation() string {
	return buildAuthSignURLLocation(l.Location.Path, l.SigninURL())
}

// ErrorUpstream returns the upstream that answers the location's custom-http-errors.
func (l located) ErrorUpstream() string { return errorUpstreamOf(l.Location) }

// HasNoEndpoints reports whether the service in the default-backend annotation answers all requests
// of the location, because its own service has no endpoints.
func (l located) HasNoEndpoints() bool {
	return l.Location.Backend == l.Location.DefaultBackendUpstreamName && l.Location.Backend != model.DefaultBackendName
}

// InterceptErrors returns "on" or "off" if the location differs from the http block, otherwise "". As
// in ingress-nginx, gRPC pods answer errors themselves: their clients could not read a page.
func (l located) InterceptErrors() string {
	if l.Module() == "grpc" {
		return ""
	}
	ofAll := len(l.All.Cfg.CustomHTTPErrors) > 0 && !l.All.Cfg.DisableProxyInterceptErrors
	here := len(l.Location.CustomHTTPErrors) > 0 || ofAll
	here = here && !l.Location.DisableProxyInterceptErrors
	if here == ofAll && l.Module() == "proxy" || !here && !ofAll {
		return ""
	}
	return onOff(here)
}

// AnswerHeaders returns the headers that replace those of the pods in responses: the ConfigMap's
// add-headers, overridden by the location's custom-headers.
func (l located) AnswerHeaders() map[string]string {
	headers := maps.Clone(l.All.AddHeaders)
	if headers == nil {
		headers = make(map[string]string)
	}
	maps.Copy(headers, l.Location.CustomHeaders.Headers)
	maps.DeleteFunc(headers, func(name, _ string) bool { return !fits(l.Module(), name) })
	return headers
}

// HideHeaders returns the pods' response headers that clients do not get.
func (l located) HideHeaders() []string {
	return slices.DeleteFunc(slices.Clone(l.All.Cfg.HideHeaders), func(name string) bool { return !fits(l.Module(), name) })
}

// HeadersToPods returns the request headers from the ConfigMap's proxy-set-headers.
func (l located) HeadersToPods() map[string]string {
	headers := maps.Clone(l.All.ProxySetHeaders)
	maps.DeleteFunc(headers, func(name, _ string) bool { return !fits(l.SetHeader(), name) })
	return headers
}

// fits reports whether a header's name fits into the module's hash tables. Those of the proxy
// module are always large enough; see sized.
func fits(directive, header string) bool {
	return strings.HasPrefix(directive, "proxy") || len(header) <= model.LongestHeader
}

// Signins returns the locations of a server that redirect clients to sign in, one per name.
func (s served) Signins() []located { return s.uniqueBy(located.signinName) }

// Auths returns the locations of a server with external authentication, one per internal location.
func (s served) Auths() []located { return s.uniqueBy(located.authName) }

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

// uniqueBy returns the first location for each value of name other than "".
func (s served) uniqueBy(name func(located) string) []located {
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

// Mirrors returns the targets of mirrored requests, one per internal location.
func (s served) Mirrors() []annotations.Mirror { return mirrors(s.Second.Locations) }

// Errors returns the upstreams that answer errors, with the statuses that each answers.
func (s served) Errors() []errorUpstream {
	return errorUpstreams(s.Second, s.First.Cfg.CustomHTTPErrors)
}

// AppRoot returns the URL to which "/" is redirected, or "".
func (s served) AppRoot() string {
	i := slices.IndexFunc(s.Second.Locations, func(l *model.Location) bool { return l.Rewrite.AppRoot != "" })
	if i < 0 {
		return ""
	}
	return s.Second.Locations[i].Rewrite.AppRoot
}

// StreamsBody reports whether a location of the server does; see located.StreamsBody.
func (s served) StreamsBody() bool {
	return slices.ContainsFunc(s.Second.Locations, func(l *model.Location) bool {
		return located{All: s.First, Server: s.Second, Location: l}.StreamsBody()
	})
}

// ErrorPass returns the directive that passes a request with an error to an upstream.
func (s served) ErrorPass(upstream string) string {
	if s.First.DynamicConfiguration {
		return "proxy_pass http://" + balancer + ";"
	}
	if !hasEndpoints(s.First.Backends, upstream) {
		return "return 503;"
	}
	return "proxy_pass http://" + upstream + ";"
}
