package kubeapi

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Field managers see custom objects as unstructured ones.

// toFields shows a stored object to a field manager.
func (res *resource) toFields(obj runtime.Object) (runtime.Object, error) {
	c, ok := obj.(*customObject)
	if !ok {
		return res.shown(obj), nil
	}
	content, err := c.whole(res.typeMeta(""))
	if err != nil {
		return nil, fmt.Errorf("showing a %s as unstructured: %w", res.kind, err)
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// fromFields takes an object back from one. What the schema of a custom resource
// does not have goes, and is reported; its defaults come.
func (res *resource) fromFields(obj runtime.Object) (runtime.Object, []error, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return bare(res.stored(obj)), nil, nil
	}
	body, err := json.Marshal(u.Object)
	if err != nil {
		return nil, nil, err
	}
	return decodeCustom(res, body)
}

// managedFieldsOf returns the account in what a field manager gave back.
func managedFieldsOf(obj runtime.Object) []metav1.ManagedFieldsEntry {
	return accessor(obj).GetManagedFields()
}
