package render

import (
	"slices"
	"strings"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/model"
)

// served is the dot of a server's template.
type served struct {
	First     *root
	Second    *model.Server
	Name      string // the first parameter of server_name
	IsDefault bool   // the server of all hosts without their own
	// ListenHTTP and ListenHTTPS are the listen directives.
	ListenHTTP, ListenHTTPS string

	Locations []*located
	Signins   []*located           // the locations that redirect clients to sign in, one per name
	Auths     []*located           // the locations with external authentication, one per internal location
	Mirrors   []annotations.Mirror // the targets of mirrored requests, one per internal location
	Errors    []errorUpstream      // the upstreams that answer errors, with the statuses that each answers
	AppRoot   string               // the URL to which "/" is redirected, or ""
	PodTLS    []string             // directives for TLS to the pods of locations without their own
}

func serverConfig(r *root, s *model.Server) *served {
	config := &served{
		First: r, Second: s, Name: quote(buildServerName(s.Hostname)), IsDefault: s.Hostname == model.DefaultServerName,
		ListenHTTP: buildHTTPListener(r, s.Hostname), ListenHTTPS: buildHTTPSListener(r, s.Hostname),
		Locations: make([]*located, len(s.Locations)),
	}
	if config.IsDefault {
		config.Name = s.Hostname
	}
	regex := enforceRegexModifier(s.Locations)
	for i, location := range s.Locations {
		config.Locations[i] = locationConfig(r, s, location, regex)
		if config.AppRoot == "" {
			config.AppRoot = location.Rewrite.AppRoot
		}
	}
	config.Signins = config.uniqueBy(func(l *located) string { return l.AuthNames.Signin })
	config.Auths = config.uniqueBy(func(l *located) string { return l.AuthNames.Location })
	config.Mirrors = mirrors(s.Locations)
	config.Errors = errorUpstreams(s, r.Cfg.CustomHTTPErrors)
	config.PodTLS = proxySSL("proxy", s.ProxySSL)
	if slices.ContainsFunc(config.Locations, func(l *located) bool { return l.Proxied.Module == "grpc" }) {
		config.PodTLS = append(config.PodTLS, proxySSL("grpc", s.ProxySSL)...)
	}
	return config
}

// uniqueBy returns the first location for each value of name other than "".
func (s *served) uniqueBy(name func(*located) string) []*located {
	var found []*located
	var seen map[string]bool
	for _, l := range s.Locations {
		if n := name(l); n != "" && !seen[n] {
			if seen == nil {
				seen = make(map[string]bool)
			}
			seen[n] = true
			found = append(found, l)
		}
	}
	return found
}

// StreamsBody reports whether any location of the server streams bodies; see proxied.StreamsBody.
func (s *served) StreamsBody() bool {
	return slices.ContainsFunc(s.Locations, func(l *located) bool { return l.Proxied.StreamsBody() })
}

// ErrorPass returns the directive that passes a failed request to an upstream.
func (s *served) ErrorPass(upstream string) string {
	if s.First.DynamicConfiguration {
		return "proxy_pass http://" + balancer + ";"
	}
	if !hasEndpoints(s.First.Backends, upstream) {
		return "return 503;"
	}
	return "proxy_pass http://" + upstream + ";"
}

// redirected is the dot of the template for a host that only redirects.
type redirected struct {
	All      *root
	Redirect model.Redirect
}

// buildServerName returns a host for server_name. As in the Ingress API, a wildcard matches only
// one label; nginx's own wildcard would match several.
func buildServerName(host string) string {
	domain, wild := strings.CutPrefix(host, "*.")
	if !wild {
		return host
	}
	return `~^(?<subdomain>[\w-]+)\.` + strings.ReplaceAll(domain, ".", `\.`) + "$"
}
