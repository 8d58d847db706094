package admission

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	networkingv1 "k8s.io/api/networking/v1"

	"windtunnel.dev/controller/annotations"
	"windtunnel.dev/controller/options"
	"windtunnel.dev/controller/snapshot"
)

// with is the cluster after an ingress was stored: it takes the place of its
// earlier version.
func with(cluster snapshot.Snapshot, ingress *networkingv1.Ingress) snapshot.Snapshot {
	name := snapshot.NameOf(ingress)
	others := slices.DeleteFunc(slices.Clone(cluster.Ingresses), func(other *networkingv1.Ingress) bool { return snapshot.NameOf(other) == name })
	cluster.Ingresses = snapshot.OldestFirst(append(others, ingress))
	return cluster
}

// place is where requests are answered.
type place struct{ host, path string }

func places(ingress *networkingv1.Ingress) []place {
	var all []place
	for _, rule := range ingress.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for _, path := range rule.HTTP.Paths {
			all = append(all, place{rule.Host, cmp.Or(path.Path, "/")})
		}
	}
	return all
}

// overlap refuses an ingress for a host and path that another one has, unless
// one of the two is the canary of the other.
func overlap(ingress *networkingv1.Ingress, all []*networkingv1.Ingress, opts options.Options) error {
	wanted := make(map[place]bool)
	for _, place := range places(ingress) {
		wanted[place] = true
	}
	if len(wanted) == 0 {
		return nil
	}
	key := cmp.Or(opts.AnnotationsPrefix, annotations.DefaultPrefix) + "/canary"
	says, canary := saysCanary(ingress, key)
	for _, other := range all {
		if snapshot.NameOf(other) == snapshot.NameOf(ingress) {
			continue
		}
		otherSays, otherCanary := saysCanary(other, key)
		if (says || otherSays) && !(canary && otherCanary) {
			continue
		}
		for _, place := range places(other) {
			if wanted[place] {
				return fmt.Errorf("host %q and path %q is already defined in ingress %s", cmp.Or(place.host, "_"), place.path, snapshot.NameOf(other))
			}
		}
	}
	return nil
}

// saysCanary tells whether an ingress says if it is a canary, and whether it is one.
func saysCanary(ingress *networkingv1.Ingress, key string) (says, is bool) {
	is, err := strconv.ParseBool(ingress.Annotations[key])
	return err == nil, is
}
