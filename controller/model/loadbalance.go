package model

import (
	"cmp"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/annotations"
)

// requiredAnnotations maps algorithms to the annotation that they require. load-balance alone must
// not select them, because their key or cookie would be missing.
var requiredAnnotations = map[string]string{
	"chash":             "upstream-hash-by",
	"chashsubset":       "upstream-hash-by",
	"sticky_balanced":   "affinity: cookie",
	"sticky_persistent": "affinity: cookie",
}

// loadBalance returns the load balancing algorithm of an ingress if its parameters are complete,
// otherwise that of the ConfigMap.
func (b *builder) loadBalance(ingress *networkingv1.Ingress) string {
	set := b.annotations(ingress)
	if lacks(set) != "" {
		return b.options.Config.LoadBalance
	}
	return cmp.Or(set.Backend.LoadBalance, b.options.Config.LoadBalance)
}

// lacks returns the missing annotation that load-balance requires, or "".
func lacks(set *annotations.Set) string {
	if set.Affinity.Type != "" || set.Backend.UpstreamHashBy.By != "" {
		return "" // it overrides load-balance
	}
	return requiredAnnotations[set.Backend.LoadBalance]
}

// findIgnoredAlgorithms reports ingresses whose load-balance is ignored.
func (b *builder) findIgnoredAlgorithms() {
	for _, ingress := range b.Ingresses {
		set := b.annotations(ingress)
		if wanted := lacks(set); wanted != "" {
			b.find(ingress, b.annotationKey("load-balance"), "%q needs %s; %s is used",
				set.Backend.LoadBalance, wanted, cmp.Or(b.options.Config.LoadBalance, "round_robin"))
		}
	}
}
