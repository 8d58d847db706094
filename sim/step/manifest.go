package step

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/scenario"
)

// apply writes the manifests of a name, in the order of the file. One that is
// there already is replaced.
func apply(s scenario.Step, in setting, next int) ([]Beat, int) {
	return written(s, in.scenario.Named(s.Apply), next, "apply",
		func(ctx context.Context, c *Cluster, object *unstructured.Unstructured) (string, error) {
			return c.client.Put(ctx, object)
		})
}

// remove deletes the manifests of a name, the last of the file first.
func remove(s scenario.Step, in setting, next int) ([]Beat, int) {
	manifests := slices.Clone(in.scenario.Named(s.Delete))
	slices.Reverse(manifests)
	return written(s, manifests, next, "delete",
		func(ctx context.Context, c *Cluster, object *unstructured.Unstructured) (string, error) {
			return "", c.client.Delete(ctx, object)
		})
}

type write func(context.Context, *Cluster, *unstructured.Unstructured) (resourceVersion string, err error)

// written is one beat a manifest, each a change of its own.
func written(s scenario.Step, manifests []scenario.Manifest, next int, kind string, do write) ([]Beat, int) {
	var beats []Beat
	for _, manifest := range manifests {
		change := event.Change{ID: next, Step: kind, Object: cluster.Name(manifest.Object)}
		beats = append(beats, Beat{At: s.At, Do: func(ctx context.Context, c *Cluster) error {
			return c.change(ctx, change, func() (string, error) { return do(ctx, c, manifest.Object) })
		}})
		next++
	}
	return beats, next
}
