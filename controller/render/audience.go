package render

import (
	"strings"

	"windtunnel.dev/controller/model"
)

// audience is the dot of the templates that say who a client is and what it
// asked for: to pods, and to whoever else gets a request or is asked about it.
type audience struct {
	All       *root
	Server    *model.Server
	SetHeader string // the directive that sets a header
}

// Set begins the directive that sets a header.
func (a audience) Set(name string) string { return a.SetHeader + " " + headerName(a.SetHeader, name) }

// Audience is the pods of a location.
func (l located) Audience() audience { return audience{l.All, l.Server, l.SetHeader()} }

// AuthAudience is the service that is asked about a location's requests, over
// HTTP whatever its pods speak.
func (l located) AuthAudience() audience { return audience{l.All, l.Server, "proxy_set_header"} }

// Audience is those whom internal locations of a server pass requests on to.
func (s served) Audience() audience { return audience{s.First, s.Second, "proxy_set_header"} }

// believedByAuth are headers in which other proxies say what a client asks for.
// ingress-nginx hands them on as the client sent them.
func believedByAuth() []string {
	return []string{
		"Forwarded", "X-Forwarded-Host", "X-Forwarded-Method", "X-Forwarded-Port", "X-Forwarded-Prefix",
		"X-Forwarded-Scheme", "X-Forwarded-Server", "X-Forwarded-Uri",
	}
}

// AuthSets tells whether the ConfigMap or the snippet of external
// authentication sets a header itself: two of one name would reach the service.
func (l located) AuthSets(name string) bool {
	auth := l.ExternalAuth()
	for set := range auth.ProxySetHeaders {
		if strings.EqualFold(set, name) {
			return true
		}
	}
	return strings.Contains(strings.ToLower(auth.AuthSnippet), strings.ToLower(name))
}
