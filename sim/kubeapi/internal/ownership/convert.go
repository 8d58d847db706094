package ownership

import (
	"encoding/json"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"

	"windtunnel.dev/sim/kubeapi/internal/codec"
	"windtunnel.dev/sim/kubeapi/internal/kinds"
	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// Field managers see custom objects as unstructured ones.

// toFields converts a stored object to the type that field managers use.
func toFields(res *resource.Resource, obj runtime.Object) (runtime.Object, error) {
	c, ok := obj.(*object.Custom)
	if !ok {
		return res.FromStored(obj), nil
	}
	content, err := c.ToUnstructured(res.TypeMeta(""))
	if err != nil {
		return nil, fmt.Errorf("showing a %s as unstructured: %w", res.Kind, err)
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// fromFields converts an object back from that type. For a custom resource it drops and reports the
// fields that the schema does not have, and sets the schema's defaults.
func fromFields(res *resource.Resource, obj runtime.Object) (runtime.Object, []error, error) {
	u, ok := obj.(*unstructured.Unstructured)
	if !ok {
		return object.WithoutKind(res.ToStored(obj)), nil, nil
	}
	body, err := json.Marshal(u.Object)
	if err != nil {
		return nil, nil, err
	}
	return codec.DecodeCustom(res, body)
}

// managedFieldsOf returns the managedFields in the result of a field manager.
func managedFieldsOf(obj runtime.Object) []metav1.ManagedFieldsEntry {
	return object.Accessor(obj).GetManagedFields()
}

// fieldConverter converts between the versions of a kind. Every kind has only one version, except
// those that are views of another.
type fieldConverter struct{}

var sameVersion = runtime.UnsafeObjectConvertor(scheme.Scheme)

func (fieldConverter) ConvertToVersion(in runtime.Object, gv runtime.GroupVersioner) (runtime.Object, error) {
	kind := in.GetObjectKind().GroupVersionKind()
	to, ok := gv.(schema.GroupVersion)
	if u, custom := in.(*unstructured.Unstructured); ok && custom && !scheme.Scheme.Recognizes(kind) {
		same := &unstructured.Unstructured{Object: maps.Clone(u.Object)} // versions of a custom object differ only in apiVersion
		same.SetGroupVersionKind(to.WithKind(kind.Kind))
		return same, nil
	}
	if !ok || kind.Empty() || kind.GroupVersion() == to {
		return sameVersion.ConvertToVersion(in, gv)
	}
	typed, err := sameVersion.ConvertToVersion(in, kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	for _, res := range kinds.BuiltIn {
		switch {
		case res.View == nil || res.Kind != kind.Kind:
		case res.GroupVersion() == to:
			return sameVersion.ConvertToVersion(res.View.FromStored(typed), to)
		case res.View.Of.GroupVersion() == to:
			return sameVersion.ConvertToVersion(res.View.ToStored(typed), to)
		}
	}
	return nil, runtime.NewNotRegisteredErrForKind("kubeapi", to.WithKind(kind.Kind))
}

// New returns an empty custom object.
func (fieldConverter) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kind)
	return u, nil
}

func (fieldConverter) Convert(in, out, context any) error {
	return scheme.Scheme.Convert(in, out, context)
}

func (fieldConverter) ConvertFieldLabel(kind schema.GroupVersionKind, label, value string) (string, string, error) {
	return scheme.Scheme.ConvertFieldLabel(kind, label, value)
}
