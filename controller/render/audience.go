package render

import (
	"strings"

	"windtunnel.dev/controller/model"
)

// audience is the dot of the templates that set headers about the client and its
// request, for pods and for other services that receive the request or authenticate it.
type audience struct {
	All       *root
	Server    *model.Server
	SetHeader string // the directive that sets a header
}

// Set begins the directive that sets a header.
func (a audience) Set(name string) string { return a.SetHeader + " " + headerName(a.SetHeader, name) }

// Audience stands for the pods of a location.
func (l located) Audience() audience { return audience{l.All, l.Server, l.SetHeader()} }

// AuthAudience stands for the authentication service of a location, which speaks HTTP
// whatever protocol the pods speak.
func (l located) AuthAudience() audience { return audience{l.All, l.Server, "proxy_set_header"} }

// Audience stands for the services to which internal locations of a server proxy.
func (s served) Audience() audience { return audience{s.First, s.Second, "proxy_set_header"} }

// believedByAuth are headers in which proxies describe the client's request.
// ingress-nginx passes them on as the client sent them.
func believedByAuth() []string {
	return []string{
		"Forwarded", "X-Forwarded-Host", "X-Forwarded-Method", "X-Forwarded-Port", "X-Forwarded-Prefix",
		"X-Forwarded-Scheme", "X-Forwarded-Server", "X-Forwarded-Uri",
	}
}

// AuthSets reports whether the ConfigMap or the snippet of external authentication
// sets a header itself. The service would otherwise receive the header twice.
func (l located) AuthSets(name string) bool {
	auth := l.ExternalAuth()
	for set := range auth.ProxySetHeaders {
		if strings.EqualFold(set, name) {
			return true
		}
	}
	return strings.Contains(strings.ToLower(auth.AuthSnippet), strings.ToLower(name))
}
