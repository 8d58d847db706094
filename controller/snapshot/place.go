package snapshot

import (
	"iter"

	networkingv1 "k8s.io/api/networking/v1"
)

// Place is what a path of an ingress claims.
type Place struct {
	Host  string // empty: all names that no other ingress has
	Path  string
	Exact bool
}

// PlaceOf is the place of a path of a rule. As in ingress-nginx an empty path is
// "/", and whatever is not Exact is Prefix.
func PlaceOf(host string, path networkingv1.HTTPIngressPath) Place {
	place := Place{Host: host, Path: path.Path, Exact: path.PathType != nil && *path.PathType == networkingv1.PathTypeExact}
	if place.Path == "" {
		place.Path = "/"
	}
	return place
}

// Places are those of an ingress, in its order, with their paths.
func Places(ingress *networkingv1.Ingress) iter.Seq2[Place, networkingv1.HTTPIngressPath] {
	return func(yield func(Place, networkingv1.HTTPIngressPath) bool) {
		for _, rule := range ingress.Spec.Rules {
			if rule.HTTP == nil {
				continue
			}
			for _, path := range rule.HTTP.Paths {
				if !yield(PlaceOf(rule.Host, path), path) {
					return
				}
			}
		}
	}
}

// Closure says which requests of an ingress are answered with 503. What the
// ingress asks for cannot be had, and nothing else may answer in its place.
type Closure struct {
	Reason string
	// Places are closed, the others are served as the ingress says. If nil, all
	// are closed, and of the annotations only those count that say which
	// requests are meant: server-alias, use-regex and rewrite-target.
	Places map[Place]bool
	// ClientCertificates and ServerSnippet close all of the ingress's hosts,
	// unless an older ingress of the host has its own: the version that cannot be
	// had protects a whole host by auth-tls-secret or by a server-snippet.
	ClientCertificates, ServerSnippet bool
}

// Refusal is the newest version of an ingress where its content is not accepted,
// as by --deep-inspect or for the risk of an annotation. Its earlier version, if
// there is one, is among a Snapshot's Ingresses.
type Refusal struct {
	Ingress *networkingv1.Ingress
	Reason  string
}
