package model

import (
	"cmp"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/annotations"
)

// choosing is what makes Lua choose an algorithm that load-balance cannot choose
// alone: it would have nothing to go by.
var choosing = map[string]string{
	"chash":             "upstream-hash-by",
	"chashsubset":       "upstream-hash-by",
	"sticky_balanced":   "affinity: cookie",
	"sticky_persistent": "affinity: cookie",
}

// loadBalance is the algorithm that an ingress asks for where it can work, or
// that of the ConfigMap.
func (b *builder) loadBalance(ingress *networkingv1.Ingress) string {
	set := b.annotations(ingress)
	if lacks(set) != "" {
		return b.options.Config.LoadBalance
	}
	return cmp.Or(set.Backend.LoadBalance, b.options.Config.LoadBalance)
}

// lacks is the annotation without which load-balance is of no use; empty if it is.
func lacks(set *annotations.Set) string {
	if set.Affinity.Type != "" || set.Backend.UpstreamHashBy.By != "" {
		return "" // that decides, whatever load-balance says
	}
	return choosing[set.Backend.LoadBalance]
}

// findUselessAlgorithms notes the ingresses whose load-balance is not followed.
func (b *builder) findUselessAlgorithms() {
	for _, ingress := range b.Ingresses {
		set := b.annotations(ingress)
		if wanted := lacks(set); wanted != "" {
			b.find(ingress, b.annotationKey("load-balance"), "%q: it takes %s to choose it; %s is used",
				set.Backend.LoadBalance, wanted, cmp.Or(b.options.Config.LoadBalance, "round_robin"))
		}
	}
}
