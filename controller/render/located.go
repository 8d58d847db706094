package render

import (
	"cmp"
	"maps"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
)

// located is the dot of a location's template: the location, its server and the root, and values
// derived from them. The derived values are fields, because text/template reads a field several
// times as fast as it calls a method.
type located struct {
	All      *root
	Server   *model.Server
	Location *model.Location
	Identity identity

	Proxied proxied // how requests get to the pods
	Denied  string  // the reason why requests get 503, or ""

	Login        *annotations.BasicDigestAuth // the basic or digest authentication, or nil
	ExternalAuth *annotations.ExternalAuth    // the external authentication, or nil
	AuthNames    authNames                    // names for ExternalAuth
	SigninURL    string                       // where clients sign in, or ""

	InheritsHeaders bool              // the http block sets the location's request headers; see inheritsHeaders
	AnswerHeaders   map[string]string // see answerHeaders
	InterceptErrors string            // "on" or "off" if the location differs from the http block, otherwise ""
	ErrorUpstream   string            // the upstream that answers the location's custom-http-errors, or ""
	Pass            string            // the directive that passes requests to the pods, or ""
}

// identity contains the names of a location and its ingress. All but Selector and Redirects are
// quoted.
type identity struct {
	Selector    string // the modifier and path of the location block
	Namespace   string
	Ingress     string
	Service     string
	ServicePort string
	Path        string // the path in the ingress
	Upstream    string
	Redirects   string // see locationConfigForLua

	PasswordFile string // password file of Login, or ""
}

// identityOf returns the identity of a location. regex reports whether the server's paths are regular
// expressions.
func identityOf(r *root, s *model.Server, l *model.Location, regex bool) identity {
	info := getIngressInformation(l.Ingress, s.Hostname, l.IngressPath)
	return identity{
		Selector:    buildLocation(l, regex),
		Namespace:   quote(info.Namespace),
		Ingress:     quote(info.Rule),
		Service:     quote(info.Service),
		ServicePort: quote(info.ServicePort),
		Path:        quote(escapeLiteralDollar(info.Path)),
		Upstream:    quote(l.Backend),
		Redirects:   locationConfigForLua(l, r),
	}
}

func locationConfig(r *root, s *model.Server, l *model.Location, regex bool) *located {
	at := &located{All: r, Server: s, Location: l, Identity: identityOf(r, s, l, regex)}
	if len(l.CustomHTTPErrors) > 0 {
		at.ErrorUpstream = errorUpstreamOf(l)
	}
	at.Proxied = proxiedOf(r, s, l)
	at.Denied = at.denied()
	if at.Login = at.login(); at.Login != nil {
		at.Identity.PasswordFile = quote(at.Login.File)
	}
	if at.ExternalAuth = at.externalAuth(); at.ExternalAuth != nil {
		at.AuthNames, at.SigninURL = at.authNames(), at.ExternalAuth.SigninURL
	}
	at.InheritsHeaders = at.inheritsHeaders()
	at.AnswerHeaders = at.answerHeaders()
	at.InterceptErrors = at.interceptErrors()
	if at.Denied == "" && l.Redirect.URL == "" {
		at.Pass = at.pass()
	}
	return at
}

func (l *located) denied() string {
	switch {
	case l.Location.Denied != nil:
		return cmp.Or(*l.Location.Denied, "no reason given")
	case asksForDigest(l.Location) && !l.All.Has(authDigest):
		return "auth-type digest: nginx has no module " + authDigest
	}
	return l.All.firewallLacks(l.Location)
}

// ModSecurity returns the location's ModSecurity directives.
func (l *located) ModSecurity() string {
	return modSecurityOf(l.All.Cfg, l.Location, l.All.Path)
}

// pass returns the directive that passes requests to the pods. Without dynamic configuration, their
// upstream has the name of the backend, or does not exist if there are no endpoints.
func (l *located) pass() string {
	if l.All.DynamicConfiguration {
		return passTo(balancer, l.All.Backends, l.Location)
	}
	if !hasEndpoints(l.All.Backends, l.Location.Backend) {
		return "return 503;"
	}
	return passTo(l.Location.Backend, l.All.Backends, l.Location)
}

// open reports whether no-auth-locations exempts the location from authentication.
func (l *located) open() bool { return isLocationInLocationList(l.Location, l.All.Cfg.NoAuthLocations) }

func (l *located) login() *annotations.BasicDigestAuth {
	if !l.Location.BasicDigestAuth.Secured || l.open() {
		return nil
	}
	return &l.Location.BasicDigestAuth
}

// interceptErrors is empty for gRPC, as in ingress-nginx: the pods answer errors themselves,
// because gRPC clients cannot read an error page.
func (l *located) interceptErrors() string {
	if l.Proxied.Module == "grpc" {
		return ""
	}
	ofAll := len(l.All.Cfg.CustomHTTPErrors) > 0 && !l.All.Cfg.DisableProxyInterceptErrors
	here := len(l.Location.CustomHTTPErrors) > 0 || ofAll
	here = here && !l.Location.DisableProxyInterceptErrors
	if here == ofAll && l.Proxied.Module == "proxy" || !here && !ofAll {
		return ""
	}
	return onOff(here)
}

// answerHeaders returns the headers that replace those of the pods in responses: the ConfigMap's
// add-headers, overridden by the location's custom-headers.
func (l *located) answerHeaders() map[string]string {
	if len(l.All.AddHeaders) == 0 && len(l.Location.CustomHeaders.Headers) == 0 {
		return nil
	}
	headers := make(map[string]string)
	maps.Copy(headers, l.All.AddHeaders)
	maps.Copy(headers, l.Location.CustomHeaders.Headers)
	maps.DeleteFunc(headers, func(name, _ string) bool { return !fits(l.Proxied.Module, name) })
	return headers
}
