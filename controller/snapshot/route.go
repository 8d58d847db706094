package snapshot

import (
	"iter"

	networkingv1 "k8s.io/api/networking/v1"
)

// Route identifies the requests that a path of an ingress matches.
type Route struct {
	Host  string // empty for all hosts without an ingress
	Path  string
	Exact bool
}

// RouteOf returns the route of a path of a rule. As in ingress-nginx, an empty path is "/", and
// every type other than Exact is Prefix.
func RouteOf(host string, path networkingv1.HTTPIngressPath) Route {
	route := Route{Host: host, Path: path.Path, Exact: path.PathType != nil && *path.PathType == networkingv1.PathTypeExact}
	if route.Path == "" {
		route.Path = "/"
	}
	return route
}

// Routes returns the routes of an ingress, in order, with their paths.
func Routes(ingress *networkingv1.Ingress) iter.Seq2[Route, networkingv1.HTTPIngressPath] {
	return func(yield func(Route, networkingv1.HTTPIngressPath) bool) {
		for _, rule := range ingress.Spec.Rules {
			if rule.HTTP == nil {
				continue
			}
			for _, path := range rule.HTTP.Paths {
				if !yield(RouteOf(rule.Host, path), path) {
					return
				}
			}
		}
	}
}

// Closure lists the requests of an ingress that get 503 because the ingress cannot be served and no
// other ingress may answer them.
type Closure struct {
	Reason string
	// Routes are the closed routes; the others are served normally. If nil, all are closed, and
	// only the annotations that determine which requests match the ingress still apply:
	// server-alias, use-regex and rewrite-target.
	Routes map[Route]bool
	// ClientCertificates and ServerSnippet close all hosts of the ingress, because the version that
	// cannot be served would protect whole hosts with auth-tls-secret or server-snippet. A host
	// stays open if an older ingress of the host sets the same annotation.
	ClientCertificates, ServerSnippet bool
}

// Rejection is the newest version of an ingress, rejected for its content, for example by
// --deep-inspect or because of an annotation's risk. If it has an earlier, accepted version, that
// is in Snapshot.Ingresses.
type Rejection struct {
	Ingress *networkingv1.Ingress
	Reason  string
}
