package model

import (
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"windtunnel.dev/controller/annotations"
)

// addServers adds the server for all other names and one server per host. Each gets a location "/"
// until an ingress claims that path.
func (b *builder) addServers() {
	if b.isCommon() {
		b.addCatchAll()
	}
	for _, ingress := range b.Ingresses {
		if b.isCanary(ingress) {
			continue // it adds pods to the locations of other ingresses
		}
		b.claimCatchAll(ingress)
		for i := range ingress.Spec.Rules {
			b.addServer(ingress, i)
		}
	}
}

// addCatchAll adds the server for all names that no ingress claims.
func (b *builder) addCatchAll() {
	catchAll := b.location("/", prefix(), nil, DefaultBackendName)
	catchAll.IsDefBackend = true
	catchAll.Logs.Access = b.options.Config.EnableAccessLogForDefaultBackend
	catchAll.Rewrite, catchAll.Redirect = annotations.Rewrite{}, annotations.Redirect{} // unclaimed names are not redirected to HTTPS
	b.servers[DefaultServerName] = &Server{Hostname: DefaultServerName, Locations: []*Location{catchAll}}
}

// claimCatchAll assigns "/" of the server for all other names to an ingress with a default backend
// and no rules. The oldest such ingress wins.
func (b *builder) claimCatchAll(ingress *networkingv1.Ingress) {
	if ingress.Spec.DefaultBackend == nil || ingress.Spec.DefaultBackend.Service == nil || len(ingress.Spec.Rules) > 0 {
		return
	}
	server := b.servers[DefaultServerName]
	holder := server.Locations[0]
	if !holder.IsDefBackend {
		b.find(ingress, "spec.defaultBackend", "%s is older and has the default backend; this one is ignored", holder.owner())
		return
	}
	claimed := b.location("/", prefix(), ingress, b.defaultBackendOf(ingress))
	claimed.Rewrite, claimed.Redirect = holder.Rewrite, holder.Redirect
	server.Locations[0] = claimed
}

func (b *builder) addServer(ingress *networkingv1.Ingress, rule int) {
	host := ingress.Spec.Rules[rule].Host
	if host == "" || b.servers[host] != nil {
		return
	}
	if reason := invalidHost(host); reason != "" {
		b.find(ingress, ruleKey(rule)+".host", "%q: %s; the rule is left out", host, reason)
		return
	}
	root := b.location("/", prefix(), ingress, b.defaultBackendOf(ingress))
	root.IsDefBackend = true
	root.DefaultBackend = nil // the annotation is for the paths of the ingress
	b.servers[host] = &Server{Hostname: host, Locations: []*Location{root}}
}

// defaultBackendOf returns the name of the backend for requests to the ingress's hosts that match
// no path.
func (b *builder) defaultBackendOf(ingress *networkingv1.Ingress) string {
	if wanted := ingress.Spec.DefaultBackend; wanted != nil && wanted.Service != nil {
		return b.backendOf(ingress, wanted.Service)
	}
	return DefaultBackendName
}

// invalidHost returns the reason why a host cannot appear in nginx.conf, or "". It repeats the
// Kubernetes API's validation, because manifests from files have not been validated.
func invalidHost(host string) string {
	check := validation.IsDNS1123Subdomain
	if strings.HasPrefix(host, "*.") {
		check = validation.IsWildcardDNS1123Subdomain
	}
	if len(check(host)) > 0 {
		return "not a DNS name, of lower case letters, digits, - and . (RFC 1123)"
	}
	return ""
}

// location returns a location with the settings from its ingress's annotations and from the
// options.
func (b *builder) location(path string, pathType *networkingv1.PathType, ingress *networkingv1.Ingress, backend string) *Location {
	location := new(Location)
	b.describe(location, path, pathType, ingress, backend)
	return location
}

// describe sets all fields of a location.
func (b *builder) describe(location *Location, path string, pathType *networkingv1.PathType, ingress *networkingv1.Ingress, backend string) {
	*location = Location{
		Path:     path,
		PathType: pathType,
		Backend:  backend,
		Service:  b.backends[backend].Service,
		Port:     b.backends[backend].Port,

		DefaultBackend:             b.fallbackService(ingress),
		DefaultBackendUpstreamName: DefaultBackendName,

		Location: b.annotations(ingress).Location,
	}
	if ingress != nil {
		location.Ingress = &Ingress{ingress, b.annotations(ingress)}
	}
	b.addConfigMaps(location)
}

// owner returns the name of the location's ingress.
func (l *Location) owner() types.NamespacedName {
	return types.NamespacedName{Namespace: l.Ingress.Namespace, Name: l.Ingress.Name}
}

// find returns the index of the location with exactly this path and type, or -1. ingress-nginx
// compares only the path, and so can produce two equal locations.
func (s *Server) find(path string, pathType networkingv1.PathType) int {
	if s.byClaim == nil {
		s.byClaim = make(map[claim]int)
	}
	for i := len(s.byClaim); i < len(s.Locations); i++ { // all claims differ, so byClaim has one entry per location
		l := s.Locations[i]
		s.byClaim[claim{l.Path, *l.PathType}] = i
	}
	if i, ok := s.byClaim[claim{path, pathType}]; ok {
		return i
	}
	return -1
}

// claim identifies a location of a server.
type claim struct {
	path     string
	pathType networkingv1.PathType
}
