package manifest

import (
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// Write writes objects as one file of YAML documents, in their order. It leaves out the status, which
// belongs to a server. The same objects give the same bytes.
func Write(w io.Writer, objects []runtime.Object) error {
	for n, object := range objects {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			return fmt.Errorf("encode object %d: %w", n+1, err)
		}
		delete(fields, "status")
		// An unset time is written as null, which readers take for a value.
		if created, set, _ := unstructured.NestedFieldNoCopy(fields, "metadata", "creationTimestamp"); set && created == nil {
			unstructured.RemoveNestedField(fields, "metadata", "creationTimestamp")
		}
		text, err := yaml.Marshal(fields)
		if err != nil {
			return fmt.Errorf("encode object %d: %w", n+1, err)
		}
		if n > 0 {
			text = append([]byte("---\n"), text...)
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return nil
}
