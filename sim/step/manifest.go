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

// applyTasks returns tasks that write the manifests with a name, in the order of the file. They
// replace objects that exist already.
func applyTasks(s scenario.Step, in setting, next int) ([]Task, int) {
	return manifestTasks(s, in, in.scenario.Named(s.Apply), next, "apply",
		func(ctx context.Context, c *Cluster, object *unstructured.Unstructured) (string, error) {
			return c.client.Put(ctx, object)
		})
}

// deleteTasks returns tasks that delete the manifests with a name, in reverse order of the file.
func deleteTasks(s scenario.Step, in setting, next int) ([]Task, int) {
	manifests := slices.Clone(in.scenario.Named(s.Delete))
	slices.Reverse(manifests)
	return manifestTasks(s, in, manifests, next, "delete",
		func(ctx context.Context, c *Cluster, object *unstructured.Unstructured) (string, error) {
			return "", c.client.Delete(ctx, object)
		})
}

// confirmationOf returns the response that shows that manifests are live.
func confirmationOf(c scenario.Confirmation, namespace string) *event.Confirmation {
	want := event.Confirmation{Service: c.Service, Status: c.Status}
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

// manifestTasks returns one task per manifest. Each is a separate change.
func manifestTasks(s scenario.Step, in setting, manifests []scenario.Manifest, next int, kind string, do write) ([]Task, int) {
	var tasks []Task
	for i, manifest := range manifests {
		change := event.Change{ID: next, Step: kind, Object: cluster.Name(manifest.Object)}
		if s.Confirmation != nil && i == len(manifests)-1 { // the response is expected only after all manifests are written
			change.Host, change.Path, change.Confirmation = s.Confirmation.Host, cmp.Or(s.Confirmation.Path, "/"), confirmationOf(*s.Confirmation, in.population.Namespace)
		}
		tasks = append(tasks, Task{At: s.At, Do: func(ctx context.Context, c *Cluster) error {
			return c.change(ctx, change, func() (string, error) { return do(ctx, c, manifest.Object) })
		}})
		next++
	}
	return tasks, next
}
