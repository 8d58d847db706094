package step

import (
	"context"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/churn"
	"windtunnel.dev/sim/cluster"
	"windtunnel.dev/sim/event"
)

// touchKey is the label or annotation whose value differs in each write, so that each write changes
// the object.
const touchKey = "windtunnel.dev/touched"

// touch writes an object again without a relevant change.
func (c *Cluster) touch(ctx context.Context, change event.Change, what churn.Touched, of *service) error {
	object, err := c.touchedObject(what, of, strconv.Itoa(change.ID))
	if err != nil {
		return err
	}
	change.Object = cluster.Name(object)
	return c.change(ctx, change, func() (string, error) { return c.client.Put(ctx, object) })
}

func (c *Cluster) touchedObject(what churn.Touched, of *service, mark string) (*unstructured.Unstructured, error) {
	switch what {
	case churn.Labels:
		object, err := cluster.Object(of.Object())
		if err == nil {
			object.SetLabels(map[string]string{touchKey: mark})
		}
		return object, err
	case churn.Ingress:
		ingress := c.population.Routing(of.Service) // a stream touches ingresses only of services that have one
		metav1.SetMetaDataAnnotation(&ingress.ObjectMeta, touchKey, mark)
		return cluster.Object(ingress)
	}
	slice := c.slices(of)[0]
	slices.Reverse(slice.Endpoints)
	slice.Labels[touchKey] = mark // without it the API would ignore a second reversal as unchanged
	return cluster.Object(slice)
}
