package snapshot

import (
	"iter"

	networkingv1 "k8s.io/api/networking/v1"
)

// Place identifies the requests that a path of an ingress matches.
type Place struct {
	Host  string // empty for all hosts without an ingress
	Path  string
	Exact bool
}

// PlaceOf returns the place of a path of a rule. As in ingress-nginx, an empty path is "/", and
// every type other than Exact is Prefix.
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

// Closure lists the requests of an ingress that get 503 because the ingress cannot be served and
// nothing else may answer them.
type Closure struct {
	Reason string
	// Places are the closed places; the others are served normally. If nil, all are closed, and
	// only the annotations that determine which requests the ingress gets still apply:
	// server-alias, use-regex and rewrite-target.
	Places map[Place]bool
	// ClientCertificates and ServerSnippet close all hosts of the ingress, because the version that
	// cannot be served would protect whole hosts with auth-tls-secret or server-snippet. A host
	// stays open if an older ingress of it has its own.
	ClientCertificates, ServerSnippet bool
}

// Rejection is the newest version of an ingress, rejected for its content, for example by
// --deep-inspect or because of an annotation's risk. If it has an earlier, accepted version, that
// is in Snapshot.Ingresses.
type Rejection struct {
	Ingress *networkingv1.Ingress
	Reason  string
}
