package controllers

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
)

// discovered is a kind that the server serves, as far as the controllers of all
// kinds care.
type discovered struct {
	schema.GroupVersionResource
	kind       string
	namespaced bool
}

// resources returns what can be listed and deleted, each stored kind once: events
// are served by two groups.
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
