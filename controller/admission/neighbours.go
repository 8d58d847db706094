package admission

import (
	"cmp"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
)

// neighboursOf returns the cluster with only those ingresses that share a host or alias with the
// new one. The others do not affect whether it can be served. So the cost of a review depends on
// the hosts of the new ingress, not on the size of the cluster.
func neighboursOf(cluster snapshot.Snapshot, ingress *networkingv1.Ingress, opts options.Options) snapshot.Snapshot {
	prefix := cmp.Or(opts.AnnotationsPrefix, annotations.DefaultPrefix) + "/"
	wanted := make(map[string]bool)
	for _, name := range names(ingress, prefix) {
		wanted[name] = true
	}
	var kept []*networkingv1.Ingress
	for _, other := range cluster.Ingresses {
		if slices.ContainsFunc(names(other, prefix), func(name string) bool { return wanted[name] }) {
			kept = append(kept, other)
		}
	}
	cluster.Ingresses = kept
	return cluster
}

// names returns the hosts and aliases of an ingress, without the www. that from-to-www-redirect may
// add. The empty name means the catch-all server.
func names(ingress *networkingv1.Ingress, prefix string) []string {
	var all []string
	for _, rule := range ingress.Spec.Rules {
		all = append(all, strings.TrimPrefix(rule.Host, "www."))
	}
	if ingress.Spec.DefaultBackend != nil && len(all) == 0 {
		all = append(all, "")
	}
	for alias := range strings.SplitSeq(ingress.Annotations[prefix+"server-alias"], ",") {
		if alias = strings.ToLower(strings.TrimSpace(alias)); alias != "" {
			all = append(all, strings.TrimPrefix(alias, "www."))
		}
	}
	return all
}
