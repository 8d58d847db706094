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

// with returns the cluster as it is after an ingress is stored. The ingress replaces its earlier
// version.
func with(cluster snapshot.Snapshot, ingress *networkingv1.Ingress) snapshot.Snapshot {
	name := snapshot.NameOf(ingress)
	others := slices.DeleteFunc(slices.Clone(cluster.Ingresses), func(other *networkingv1.Ingress) bool { return snapshot.NameOf(other) == name })
	cluster.Ingresses = snapshot.OldestFirst(append(others, ingress))
	return cluster
}

// route is a host and a path for which an ingress answers requests.
type route struct{ host, path string }

func routes(ingress *networkingv1.Ingress) []route {
	var all []route
	for _, rule := range ingress.Spec.Rules {
		if rule.HTTP == nil {
			continue
		}
		for _, path := range rule.HTTP.Paths {
			all = append(all, route{rule.Host, cmp.Or(path.Path, "/")})
		}
	}
	return all
}

// overlap returns an error if another ingress has the same host and path. An ingress and its canary
// may share them.
func overlap(ingress *networkingv1.Ingress, all []*networkingv1.Ingress, opts options.Options) error {
	wanted := make(map[route]bool)
	for _, route := range routes(ingress) {
		wanted[route] = true
	}
	if len(wanted) == 0 {
		return nil
	}
	key := cmp.Or(opts.AnnotationsPrefix, annotations.DefaultPrefix) + "/canary"
	annotated, canary := canaryAnnotation(ingress, key)
	for _, other := range all {
		if snapshot.NameOf(other) == snapshot.NameOf(ingress) {
			continue
		}
		otherAnnotated, otherCanary := canaryAnnotation(other, key)
		if (annotated || otherAnnotated) && !(canary && otherCanary) {
			continue
		}
		for _, route := range routes(other) {
			if wanted[route] {
				return fmt.Errorf("host %q and path %q is already defined in ingress %s", cmp.Or(route.host, "_"), route.path, snapshot.NameOf(other))
			}
		}
	}
	return nil
}

// canaryAnnotation reports whether an ingress has a valid canary annotation, and its value.
func canaryAnnotation(ingress *networkingv1.Ingress, key string) (valid, value bool) {
	value, err := strconv.ParseBool(ingress.Annotations[key])
	return err == nil, value
}
