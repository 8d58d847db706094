// Package model computes what nginx must do from the cluster and the options. It stands between
// snapshot and options, which provide its input, and render and wire, which encode its result for
// nginx and for Lua. Its one rule: Build is pure and deterministic; equal inputs in any order give
// an equal model.
//
// Types and fields have the names that ingress-nginx's template reads, so a template written for
// ingress-nginx works.
package model

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/controller/annotations"
)

// Model is the whole configuration. Servers are the static part, which is rendered to nginx.conf;
// Backends are the dynamic part, which is sent to Lua.
type Model struct {
	Backends              BackendList
	Servers               []*Server // sorted by hostname
	RedirectServers       []Redirect
	TCPBackends           []L4Service // sorted by port
	UDPBackends           []L4Service // sorted by port
	PassthroughBackends   []PassthroughBackend
	PublishService        *corev1.Service // that of --publish-service; nil if there is none
	StreamSnippets        []string
	DefaultSSLCertificate *SSLCert
	ProxySetHeaders       map[string]string // added to all requests to pods
	AddHeaders            map[string]string // added to all responses to clients

	// SSLDHParam is the path of a file with Diffie-Hellman parameters; empty if there is none.
	SSLDHParam string
	// Files maps paths to the contents of the files that nginx reads besides its configuration:
	// certificates, keys, passwords. The contents are secret.
	Files map[string][]byte

	origin *origin // how everything except the endpoints of Backends was built
	filled *byte   // identifies which of Backends have endpoints
}

// Backend is a port of a service, with the endpoints that serve it.
type Backend struct {
	Name          string
	Service       *corev1.Service // nil if it does not exist
	Port          intstr.IntOrString
	LoadBalancing string // empty means round_robin
	Endpoints     []Endpoint

	SSLPassthrough       bool
	SessionAffinity      SessionAffinity
	UpstreamHashBy       annotations.UpstreamHashBy
	NoServer             bool // true for a canary, which no location uses directly
	TrafficShapingPolicy annotations.Canary
	AlternativeBackends  []string // names of its canaries

	of               types.NamespacedName // the service; another service may have the same backend name
	source           source
	problem          string // of the service, for findings; empty if there is none
	withoutClusterIP bool   // the service has no cluster IP, which service-upstream requires
}

// SessionAffinity describes how clients stay on one pod.
type SessionAffinity struct {
	annotations.Affinity
	Locations map[string][]string // maps hosts to paths, in the order of the ingresses
}

// Endpoint is an address and port to which nginx connects.
type Endpoint struct {
	Address string
	Port    string
	Target  *corev1.ObjectReference // the pod; nil if unknown
}

// same reports whether two endpoints are equal.
func (e Endpoint) same(other Endpoint) bool {
	return e.samePlace(other) && (e.Target == other.Target || e.Target != nil && other.Target != nil && *e.Target == *other.Target)
}

func (e Endpoint) samePlace(other Endpoint) bool {
	return e.Address == other.Address && e.Port == other.Port
}

// HostPort returns the endpoint as nginx writes it, with IPv6 addresses in brackets.
func (e Endpoint) HostPort() string {
	if strings.Contains(e.Address, ":") {
		return "[" + e.Address + "]:" + e.Port
	}
	return e.Address + ":" + e.Port
}

// Server is a host name and its locations.
type Server struct {
	Hostname  string // "_" for the server of all other names
	Aliases   []string
	Locations []*Location

	SSLCert                *SSLCert // nil if the server has none of its own
	SSLCiphers             string
	SSLPreferServerCiphers string
	SSLPassthrough         bool
	CertificateAuth        CertificateAuth
	ProxySSL               ProxySSL
	AuthTLSError           string // why clients cannot be authenticated; all requests get 403
	RedirectFromToWWW      bool
	ServerSnippet          string

	closed  *string       // why all its requests get 503
	byClaim map[claim]int // indexes into Locations; see find
}

// Location is a path of a server and how its requests are handled.
type Location struct {
	Path     string // in the form that nginx matches
	PathType *networkingv1.PathType
	// IngressPath is the path as written in the ingress if Path has another form; empty for "/".
	IngressPath string
	// IsDefBackend marks the location "/" of a server on which no ingress claims that path.
	IsDefBackend bool
	Backend      string
	Ingress      *Ingress // nil if the location belongs to no ingress

	// Beginning marks a location whose Path is only the beginning of the ingress's path, because
	// the whole path does not fit into nginx.conf. All requests that begin with it are denied.
	Beginning bool
	// Service and Port are those of Backend; Service is nil if it does not exist.
	Service *corev1.Service
	Port    intstr.IntOrString
	// DefaultBackend is the service that answers when Backend has no endpoint, and that answers
	// errors; DefaultBackendUpstreamName is the name of its backend.
	DefaultBackend             *corev1.Service
	DefaultBackendUpstreamName string

	annotations.Location
	CustomHeaders CustomHeaders
	ProxySSL      ProxySSL
}

// Ingress is an ingress and its annotations.
type Ingress struct {
	*networkingv1.Ingress
	ParsedAnnotations *annotations.Set
}

// CustomHeaders are headers added to responses.
type CustomHeaders struct {
	Headers map[string]string
}

// ProxySSL describes how nginx connects to pods over TLS, and names the files that it uses.
type ProxySSL struct {
	CAFileName  string
	CASHA       string
	CRLFileName string // only for users' templates
	CRLSHA      string
	PemFileName string
	annotations.ProxySSL
}

// CertificateAuth describes how clients present certificates, and names the files that verify them.
type CertificateAuth struct {
	Secret             string // namespace/name
	PemFileName        string // of the Secret's certificate, if it has one; only for users' templates
	CAFileName         string
	CASHA              string
	CRLFileName        string
	CRLSHA             string
	VerifyClient       string
	ValidationDepth    int
	ErrorPage          string
	MatchCN            string
	PassCertToUpstream bool
	AuthTLSError       string // that of the server
}

// L4Service is a TCP or UDP port of nginx and the service behind it.
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

// ProxyProtocol selects where nginx uses the PROXY protocol: from clients (Decode) and to pods
// (Encode).
type ProxyProtocol struct {
	Decode, Encode bool
}

// Redirect is a host that only redirects to another host.
type Redirect struct {
	From, To string
	SSLCert  *SSLCert // nil for the default certificate
}
