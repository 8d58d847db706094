// Package fetch reads the objects of a live cluster that a controller reads, for package dump. Its one
// rule: it only lists, and writes nothing to the cluster.
package fetch

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/pager"

	"windtunnel.dev/sim/manifest"
)

var resources = []schema.GroupVersionResource{
	{Group: "networking.k8s.io", Version: "v1", Resource: "ingressclasses"},
	{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"},
	{Version: "v1", Resource: "services"},
	{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"},
	{Version: "v1", Resource: "configmaps"},
	{Version: "v1", Resource: "secrets"},
}

// pageSize is the number of objects per answer, as of kubectl --chunk-size.
const pageSize = 500

// All lists the objects of a cluster, in pages.
func All(ctx context.Context, config *rest.Config) ([]manifest.Manifest, error) {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	var all []manifest.Manifest
	for n, resource := range resources {
		list := pager.New(func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return client.Resource(resource).List(ctx, o)
		})
		list.PageSize = pageSize
		err := list.EachListItem(ctx, metav1.ListOptions{}, func(item runtime.Object) error {
			object, ok := item.(*unstructured.Unstructured)
			if !ok {
				return fmt.Errorf("unexpected item %T", item)
			}
			all = append(all, manifest.Manifest{File: config.Host, Line: n + 1, Object: object})
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("listing %s: %w", resource.Resource, err)
		}
	}
	return all, nil
}
