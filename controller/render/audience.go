package render

import (
	"strings"

	"windtunnel.dev/controller/model"
)

// audience is the dot of the templates that set headers about the client and its request. They
// apply to requests to pods and to the services that authenticate or receive requests.
type audience struct {
	All          *root
	Certificates model.CertificateAuth // how the clients present certificates
	SetHeader    string                // the directive that sets a header
}

// Set returns the beginning of the directive that sets a header.
func (a audience) Set(name string) string { return a.SetHeader + " " + a.HeaderName(name) }

// HeaderName returns a header's name as that directive expects it.
func (a audience) HeaderName(name string) string { return headerName(a.SetHeader, name) }

// AuthAudience returns the audience for the authentication service of a location, which receives
// HTTP regardless of the pods' protocol.
func (l *located) AuthAudience() audience {
	return audience{l.All, l.Proxied.Certificates, "proxy_set_header"}
}

// Audience returns the audience for services that the server's internal locations pass requests to.
func (s *served) Audience() audience {
	return audience{s.First, s.Second.CertificateAuth, "proxy_set_header"}
}

// believedByAuth returns the headers in which proxies describe the client's request, and which
// authentication services trust. ingress-nginx forwards them unchanged.
func believedByAuth() []string {
	return []string{
		"Forwarded", "X-Forwarded-Host", "X-Forwarded-Method", "X-Forwarded-Port", "X-Forwarded-Prefix",
		"X-Forwarded-Scheme", "X-Forwarded-Server", "X-Forwarded-Uri",
	}
}

// AuthSets reports whether the ConfigMap or the snippet of external authentication already sets a
// header. Otherwise the service would receive it twice.
func (l *located) AuthSets(name string) bool {
	auth := l.ExternalAuth
	for set := range auth.ProxySetHeaders {
		if strings.EqualFold(set, name) {
			return true
		}
	}
	return strings.Contains(strings.ToLower(auth.AuthSnippet), strings.ToLower(name))
}
