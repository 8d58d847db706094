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
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/controller/annotations"
)

// Model is the whole configuration. Servers are its static half, which is
// rendered; Backends its dynamic half, which Lua is told.
type Model struct {
	Backends              Backends
	Servers               []*Server // by hostname
	RedirectServers       []Redirect
	TCPBackends           []L4Service // by port
	UDPBackends           []L4Service // by port
	PassthroughBackends   []PassthroughBackend
	StreamSnippets        []string
	DefaultSSLCertificate SSLCert
	ProxySetHeaders       map[string]string // of requests to all pods
	AddHeaders            map[string]string // of answers to all clients

	// SSLDHParam is the path of a Diffie-Hellman group; empty is none.
	SSLDHParam string
	// Files are those that nginx reads besides its configuration, by path:
	// certificates, keys, passwords. What is in them is nobody else's business.
	Files map[string][]byte

	origin *origin // of all but the endpoints of Backends
}

// Backend is a port of a service, with the endpoints that serve it.
type Backend struct {
	Name        string
	Service     *corev1.Service // nil when there is none of that name
	Port        intstr.IntOrString
	LoadBalance string // empty: round_robin
	Endpoints   []Endpoint

	SSLPassthrough       bool
	SessionAffinity      SessionAffinity
	UpstreamHashBy       annotations.UpstreamHashBy
	NoServer             bool // a canary: no location leads to it
	TrafficShapingPolicy annotations.Canary
	AlternativeBackends  []string // names of its canaries

	of     types.NamespacedName // the service; another service may give the same backend name
	source source
}

// SessionAffinity is how clients are kept at a pod.
type SessionAffinity struct {
	annotations.Affinity
	Locations map[string][]string // host to paths, in the order in which they were found
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
	Aliases   []string
	Locations []*Location

	SSLCert                *SSLCert // nil: none of its own
	SSLCiphers             string
	SSLPreferServerCiphers string
	SSLPassthrough         bool
	CertificateAuth        CertificateAuth
	ProxySSL               ProxySSL
	AuthTLSError           string // why clients cannot be authenticated: all get 403
	RedirectFromToWWW      bool
	ServerSnippet          string

	closed *string       // why all of its requests get 503
	places map[claim]int // where in Locations; see find
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

	// Beginning marks a Path that is only the beginning of the ingress's, which does
	// not fit into nginx.conf. Whatever begins with it is denied.
	Beginning bool
	// Service and Port are what Backend is of; Service is nil where there is none.
	Service *corev1.Service
	Port    intstr.IntOrString
	// DefaultBackend is the service that answers when Backend has no endpoint,
	// and errors; DefaultBackendUpstreamName is its backend.
	DefaultBackend             *corev1.Service
	DefaultBackendUpstreamName string

	annotations.Location
	CustomHeaders CustomHeaders
	ProxySSL      ProxySSL
}

// CustomHeaders are headers added to answers.
type CustomHeaders struct {
	Headers map[string]string
}

// ProxySSL is how pods are spoken to over TLS, and the files that takes.
type ProxySSL struct {
	CAFileName  string
	CASHA       string
	PemFileName string
	annotations.ProxySSL
}

// CertificateAuth is how clients show certificates, and the files that takes.
type CertificateAuth struct {
	CAFileName         string
	CASHA              string
	CRLFileName        string
	CRLSHA             string
	VerifyClient       string
	ValidationDepth    int
	ErrorPage          string
	MatchCN            string
	PassCertToUpstream bool
}

// L4Service is a TCP or UDP port of nginx's and the service behind it.
type L4Service struct {
	Port      int
	Backend   L4Backend
	Endpoints []Endpoint
	Service   *corev1.Service
}

// L4Backend is the service behind a TCP or UDP port.
type L4Backend struct {
	Port          intstr.IntOrString
	Name          string
	Namespace     string
	Protocol      corev1.Protocol
	ProxyProtocol ProxyProtocol
}

// ProxyProtocol says where the PROXY protocol is spoken: by clients (Decode)
// and to pods (Encode).
type ProxyProtocol struct {
	Decode, Encode bool
}

// Redirect is a host that only redirects to another.
type Redirect struct {
	From, To string
	SSLCert  *SSLCert // nil: the default certificate
}
