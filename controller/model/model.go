// Package model is what nginx ought to do, worked out from the cluster and the
// options. It stands between snapshot and options, which say what is wished,
// and render and wire, which write it down for nginx and for Lua. Its one rule:
// it is pure and deterministic; equal inputs in any order give an equal model.
//
// Type and field names are those that ingress-nginx's template reads, so that
// a template written for ingress-nginx finds what it looks for.
package model

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Model is the whole configuration. Servers are its static half, which is
// rendered; Backends its dynamic half, which Lua is told.
type Model struct {
	Backends              Backends
	Servers               []*Server // by hostname
	DefaultSSLCertificate SSLCert
}

// SSLCert is a certificate on disk.
type SSLCert struct {
	PemFileName string
	PemSHA      string // hex SHA-1 of the certificate
}

// Backend is a port of a service, with the endpoints that serve it.
type Backend struct {
	Name        string
	Service     *corev1.Service // nil when there is none of that name
	Port        intstr.IntOrString
	LoadBalance string // empty: round_robin
	Endpoints   []Endpoint
}

// Endpoint is an address and port that connections go to.
type Endpoint struct {
	Address string
	Port    string
}

// HostPort is the endpoint as nginx writes it: IPv6 in brackets.
func (e Endpoint) HostPort() string {
	if strings.Contains(e.Address, ":") {
		return "[" + e.Address + "]:" + e.Port
	}
	return e.Address + ":" + e.Port
}

// Server is a host name and its locations.
type Server struct {
	Hostname  string // "_" is the server for all other names
	Locations []*Location
}

// Location is a path of a server and what is done with its requests.
type Location struct {
	Path     string // as nginx matches it
	PathType *networkingv1.PathType
	// IngressPath is the path as the ingress wrote it, when that is not Path's
	// own form; empty for "/".
	IngressPath string
	// IsDefBackend marks the location that a server has when no ingress claims "/".
	IsDefBackend bool
	Backend      string
	Ingress      *networkingv1.Ingress // nil where no ingress is behind it

	ClientBodyBufferSize string
	UsePortInRedirects   bool
	Logs                 Logs
	Proxy                Proxy
	Rewrite              Rewrite
}

// Logs says what is logged.
type Logs struct {
	Access bool
}

// Rewrite is about redirects.
type Rewrite struct {
	SSLRedirect           bool
	ForceSSLRedirect      bool
	PreserveTrailingSlash bool
}

// Proxy is how requests are passed on. Times are in seconds, sizes as nginx
// writes them.
type Proxy struct {
	BodySize             string
	BufferSize           string
	BuffersNumber        int
	BusyBuffersSize      string
	ConnectTimeout       int
	CookieDomain         string
	CookiePath           string
	NextUpstream         string
	NextUpstreamTimeout  int
	NextUpstreamTries    int
	ProxyBuffering       string
	ProxyHTTPVersion     string
	ProxyMaxTempFileSize string
	ProxyRedirectFrom    string
	ProxyRedirectTo      string
	ReadTimeout          int
	RequestBuffering     string
	SendTimeout          int
}
