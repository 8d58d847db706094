package cluster

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"windtunnel.dev/sim/manifest"
)

// Load creates an object from a dump of another cluster, including its status, but without the
// metadata that the other server set. Fields that its kind does not have are an error.
func (c *Client) Load(ctx context.Context, object *unstructured.Unstructured) error {
	resource, err := c.resource(object)
	if err != nil {
		return err
	}
	object = object.DeepCopy()
	manifest.RemoveServerFields(object)
	made, err := resource.Create(ctx, object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		return fmt.Errorf("creating %s: %w", Name(object), err)
	}
	status, ok := object.Object["status"].(map[string]any)
	if !ok || len(status) == 0 {
		return nil
	}
	made.Object["status"] = status
	if _, err := resource.UpdateStatus(ctx, made, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("writing the status of %s: %w", Name(object), err)
	}
	return nil
}
