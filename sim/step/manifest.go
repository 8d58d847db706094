package step

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/event"
	"windtunnel.dev/sim/scenario"
)

// apply returns beats that write the manifests with a name, in the order of the file. They replace
// objects that exist already.
func apply(s scenario.Step, in setting, next int) ([]Beat, int) {
	return written(s, in, in.scenario.Named(s.Apply), next, "apply",
		func(ctx context.Context, c *Cluster, object *unstructured.Unstructured) (string, error) {
			return c.client.Put(ctx, object)
		})
}

// remove returns beats that delete the manifests with a name, in reverse order of the file.
func remove(s scenario.Step, in setting, next int) ([]Beat, int) {
	manifests := slices.Clone(in.scenario.Named(s.Delete))
	slices.Reverse(manifests)
	return written(s, in, manifests, next, "delete",
		func(ctx context.Context, c *Cluster, object *unstructured.Unstructured) (string, error) {
			return "", c.client.Delete(ctx, object)
		})
}

// seen returns the response that shows that manifests are live.
func seen(see scenario.See, namespace string) *event.See {
	want := event.See{Service: see.Service, Status: see.Status}
	if want.Service == "" {
		return &want
	}
	want.Status = cmp.Or(want.Status, http.StatusOK)
	if !strings.Contains(want.Service, "/") {
		want.Service = namespace + "/" + want.Service
	}
	return &want
}

type write func(context.Context, *Cluster, *unstructured.Unstructured) (resourceVersion string, err error)

// written returns one beat per manifest. Each is a separate change.
func written(s scenario.Step, in setting, manifests []scenario.Manifest, next int, kind string, do write) ([]Beat, int) {
	var beats []Beat
	for i, manifest := range manifests {
		change := event.Change{ID: next, Step: kind, Object: cluster.Name(manifest.Object)}
		if s.See != nil && i == len(manifests)-1 { // the response is expected only after all manifests are written
			change.Host, change.Path, change.See = s.See.Host, cmp.Or(s.See.Path, "/"), seen(*s.See, in.population.Namespace)
		}
		beats = append(beats, Beat{At: s.At, Do: func(ctx context.Context, c *Cluster) error {
			return c.change(ctx, change, func() (string, error) { return do(ctx, c, manifest.Object) })
		}})
		next++
	}
	return beats, next
}
