package snapshot

import (
	"iter"

	networkingv1 "k8s.io/api/networking/v1"
)

// Place is what a path of an ingress claims.
type Place struct {
	Host  string // empty: all hosts without an ingress
	Path  string
	Exact bool
}

// PlaceOf returns the place of a path of a rule. As in ingress-nginx, an empty path is
// "/", and every type other than Exact is Prefix.
func PlaceOf(host string, path networkingv1.HTTPIngressPath) Place {
	place := Place{Host: host, Path: path.Path, Exact: path.PathType != nil && *path.PathType == networkingv1.PathTypeExact}
	if place.Path == "" {
		place.Path = "/"
	}
	return place
}

// Places returns the places of an ingress, in order, with their paths.
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

// Closure says which requests of an ingress are answered with 503, because the
// ingress cannot be served and nothing else may answer in its place.
type Closure struct {
	Reason string
	// Places are the closed places; the others are served normally. If nil, all are
	// closed, and only the annotations that select requests are used: server-alias,
	// use-regex and rewrite-target.
	Places map[Place]bool
	// ClientCertificates and ServerSnippet close all hosts of the ingress, unless an
	// older ingress of the host has its own auth-tls-secret or server-snippet: the
	// version that cannot be served would protect the whole host by it.
	ClientCertificates, ServerSnippet bool
}

// Refusal is the newest version of an ingress whose content is refused, for example by
// --deep-inspect or for the risk of an annotation. Its earlier version, if there is
// one, is among a Snapshot's Ingresses.
type Refusal struct {
	Ingress *networkingv1.Ingress
	Reason  string
}
