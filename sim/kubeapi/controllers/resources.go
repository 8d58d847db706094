package controllers

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// discovered is a served kind with the properties that the garbage collector and the namespace
// controller need.
type discovered struct {
	schema.GroupVersionResource
	kind       string
	namespaced bool
}

// resources returns the kinds that can be listed and deleted. It returns a kind that two groups
// serve, such as events, only once.
func (c *cluster) resources() ([]discovered, error) {
	lists, err := discovery.ServerPreferredResources(c.client.Discovery())
	if err != nil {
		return nil, fmt.Errorf("asking the API server for its resources: %w", err)
	}
	var all []discovered
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for _, r := range list.APIResources {
			if !slices.Contains(r.Verbs, "list") || !slices.Contains(r.Verbs, "delete") || gv.Group == "events.k8s.io" {
				continue
			}
			all = append(all, discovered{gv.WithResource(r.Name), r.Kind, r.Namespaced})
		}
	}
	return all, nil
}
