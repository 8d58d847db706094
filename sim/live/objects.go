package live

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
)

// resources are the kinds that churn creates in its namespace, with those that others depend on
// last.
var resources = []struct {
	kind     string
	resource schema.GroupVersionResource
}{
	{"Ingress", schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"}},
	{"EndpointSlice", schema.GroupVersionResource{Group: "discovery.k8s.io", Version: "v1", Resource: "endpointslices"}},
	{"Service", schema.GroupVersionResource{Version: "v1", Resource: "services"}},
	{"Deployment", schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}},
	{"Secret", schema.GroupVersionResource{Version: "v1", Resource: "secrets"}},
}

// inventory has the names of objects that churn creates or may create.
type inventory map[string]map[string]bool // names by kind

func (i inventory) add(kind, name string) {
	if i[kind] == nil {
		i[kind] = map[string]bool{}
	}
	i[kind][name] = true
}

// checkConflicts returns an error for each object that already exists in a namespace. Churn
// overwrites nothing in a namespace that it did not create.
func (i inventory) checkConflicts(ctx context.Context, client dynamic.Interface, namespace string) error {
	return i.each(ctx, client, namespace, "", func(kind string, found *unstructured.Unstructured, _ dynamic.ResourceInterface) error {
		if !i[kind][found.GetName()] {
			return nil
		}
		if run := found.GetLabels()[RunLabel]; run != "" {
			return fmt.Errorf("%s %s/%s was left by run %s: kubectl -n %s delete all,ingress,endpointslice,secret -l %s=%s", kind, namespace, found.GetName(), run, namespace, RunLabel, run)
		}
		return fmt.Errorf("%s %s/%s exists and would be overwritten; choose another namespace", kind, namespace, found.GetName())
	})
}

// remove deletes the objects of a run from a namespace.
func (i inventory) remove(ctx context.Context, client dynamic.Interface, namespace, run string) error {
	return i.each(ctx, client, namespace, RunLabel+"="+run, func(_ string, found *unstructured.Unstructured, in dynamic.ResourceInterface) error {
		uid := found.GetUID()
		err := in.Delete(ctx, found.GetName(), metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &uid}, PropagationPolicy: new(metav1.DeletePropagationBackground)})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// each calls do for every existing object of the inventory's kinds, and joins the errors.
func (i inventory) each(ctx context.Context, client dynamic.Interface, namespace, selector string, do func(kind string, found *unstructured.Unstructured, in dynamic.ResourceInterface) error) error {
	var failed []error
	for _, r := range resources {
		if len(i[r.kind]) == 0 {
			continue
		}
		in := client.Resource(r.resource).Namespace(namespace)
		list, err := in.List(ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			failed = append(failed, fmt.Errorf("list %s in %s: %w", r.resource.Resource, namespace, err))
			continue
		}
		for n := range list.Items {
			if err := do(r.kind, &list.Items[n], in); err != nil {
				failed = append(failed, err)
			}
		}
	}
	const most = 3 // errors are enough
	if len(failed) > most {
		failed = append(slices.Clip(failed[:most]), fmt.Errorf("and %d more", len(failed)-most))
	}
	return errors.Join(failed...)
}
