package main

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"

	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/manifest"
)

// preload writes manifests to a server: first namespaces and custom kinds, which other objects
// need, then the rest, in the order of the files.
func preload(ctx context.Context, config *rest.Config, manifests []manifest.Manifest) error {
	if len(manifests) == 0 {
		return nil
	}
	client, err := cluster.New(config)
	if err != nil {
		return err
	}
	slices.SortStableFunc(manifests, func(a, b manifest.Manifest) int { return preloadOrder(a) - preloadOrder(b) })
	for _, m := range manifests {
		err := client.Load(ctx, m.Object)
		if meta.IsNoMatchError(err) { // the kind may have been defined a moment ago
			if client, err = cluster.New(config); err == nil {
				err = client.Load(ctx, m.Object)
			}
		}
		if err != nil {
			return m.At(err)
		}
	}
	return nil
}

// preloadOrder returns 0 for manifests that must come first, and 1 for the rest.
func preloadOrder(m manifest.Manifest) int {
	switch m.Object.GetKind() {
	case "Namespace", "CustomResourceDefinition":
		return 0
	}
	return 1
}
