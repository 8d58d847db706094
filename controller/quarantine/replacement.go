package quarantine

import (
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"windtunnel.dev/controller/snapshot"
)

// Replacement is served in place of a version of an ingress that cannot be served.
type Replacement struct {
	Ingress     *networkingv1.Ingress // nil if nothing is served
	Closure     *snapshot.Closure     // closes Ingress; nil if it is not closed
	Description string                // what is served, for findings
}

// ReplacementOf returns the replacement for the wanted version of an ingress. good is the last
// known good version, or nil. If good protects no less, it is served, and paths that only the
// wanted version has get 503. Otherwise all paths of the wanted version get 503. A canary has no
// paths of its own; if its good version cannot be served, it is left out.
func ReplacementOf(wanted, good *networkingv1.Ingress, prefix string) Replacement {
	r := newReader(prefix)
	if good != nil && SameConfiguration(good, wanted, prefix) {
		good = nil // no longer good
	}
	var ways []string
	if good != nil {
		ways = r.weaker(good, wanted)
	}
	if r.isCanary(wanted) {
		if good == nil || len(ways) > 0 {
			return Replacement{Description: "it is left out"}
		}
		return Replacement{Ingress: good, Description: "its earlier version is served"}
	}
	if good == nil || len(ways) > 0 || r.isCanary(good) || (len(good.Spec.Rules) == 0) != (len(wanted.Spec.Rules) == 0) {
		return r.closed(wanted, ways)
	}
	return merged(wanted, good)
}

func (r reader) closed(wanted *networkingv1.Ingress, ways []string) Replacement {
	reason, says := "this version of the ingress cannot be served", "its requests get 503"
	if len(ways) > 0 {
		reason += "; its earlier version protects less: " + strings.Join(ways, ", ")
		says += ", because its earlier version protects less: " + strings.Join(ways, ", ")
	}
	replacement := *wanted // a copy, so its pointer differs from that of the wanted version
	closure := r.closureOf(wanted, reason)
	if closure.ClientCertificates || closure.ServerSnippet {
		says += "; so do all requests to hosts that it would protect"
	}
	return Replacement{&replacement, &closure, says}
}

// merged returns the good version, plus 503 on the paths that only the wanted one has.
func merged(wanted, good *networkingv1.Ingress) Replacement {
	have := make(map[snapshot.Route]bool)
	for route := range snapshot.Routes(good) {
		have[route] = true
	}
	closure := snapshot.Closure{Reason: "this version of the ingress cannot be served, and its earlier version does not have this path", Routes: make(map[snapshot.Route]bool)}
	replacement := *good
	replacement.Spec.Rules = slices.Clone(good.Spec.Rules)
	for route, path := range snapshot.Routes(wanted) {
		if have[route] || closure.Routes[route] {
			continue
		}
		closure.Routes[route] = true
		http := &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{path}}
		replacement.Spec.Rules = append(replacement.Spec.Rules, networkingv1.IngressRule{Host: route.Host, IngressRuleValue: networkingv1.IngressRuleValue{HTTP: http}})
	}
	if len(closure.Routes) == 0 {
		return Replacement{good, nil, "its earlier version is served"}
	}
	return Replacement{&replacement, &closure, "its earlier version is served, and paths that only this version has get 503"}
}

// SameConfiguration reports whether two versions of an ingress request the same configuration. It
// ignores status, labels and annotations with another prefix.
func SameConfiguration(a, b *networkingv1.Ingress, prefix string) bool {
	if a == b {
		return true
	}
	r := newReader(prefix)
	return a.UID == b.UID && equality.Semantic.DeepEqual(a.Spec, b.Spec) && r.same(a, b)
}

// same reports whether two versions have equal annotations with the controller's prefix.
func (r reader) same(a, b *networkingv1.Ingress) bool {
	one, other := r.ours(a), r.ours(b)
	return equality.Semantic.DeepEqual(one, other)
}

func (r reader) ours(ingress *networkingv1.Ingress) map[string]string {
	var ours map[string]string
	for name, value := range ingress.Annotations {
		if strings.HasPrefix(name, r.prefix) {
			if ours == nil {
				ours = make(map[string]string)
			}
			ours[name] = value
		}
	}
	return ours
}
