package resource

import (
	"reflect"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/kubeapi/internal/object"
)

// LargeField is the field that makes the objects of a kind large. No rule of such a kind reads it
// in an old object or writes it in a new one, and the kind has no status. So a write need not
// decode the large field of the old object nor copy that of the new one.
type LargeField struct {
	Field protowire.Number
	Name  string
}

// CopyOf returns a deep copy of obj that shares only the large field.
func (res *Resource) CopyOf(obj runtime.Object) runtime.Object {
	if res.LargeField.Field == 0 {
		return obj.DeepCopyObject()
	}
	from := reflect.ValueOf(obj).Elem()
	light := reflect.New(from.Type())
	light.Elem().Set(from)
	light.Elem().FieldByName(res.LargeField.Name).SetZero()
	copied := light.Interface().(runtime.Object).DeepCopyObject()
	res.LargeFieldOf(copied).Set(res.LargeFieldOf(obj))
	return copied
}

// LargeFieldOf returns the large field of obj; the zero Value if the kind has none.
func (res *Resource) LargeFieldOf(obj runtime.Object) reflect.Value {
	if res.LargeField.Field == 0 {
		return reflect.Value{}
	}
	return reflect.ValueOf(obj).Elem().FieldByName(res.LargeField.Name)
}

// UnmarshalWithoutLargeField is Unmarshal without the large field.
func (res *Resource) UnmarshalWithoutLargeField(message []byte) (runtime.Object, error) {
	if res.LargeField.Field == 0 {
		return res.Unmarshal(message)
	}
	obj := res.Empty()
	for {
		before, _, after := object.Cut(message, res.LargeField.Field)
		if err := obj.(object.Message).Unmarshal(before); err != nil { // merges into obj
			return nil, err
		}
		if len(after) == 0 {
			return obj, nil
		}
		message = after
	}
}

// reserveLargeField makes room for the elements of the large field, which Unmarshal appends one by
// one.
func (res *Resource) reserveLargeField(obj runtime.Object, message []byte) {
	if res.LargeField.Field == 0 {
		return
	}
	if n := object.Count(message, res.LargeField.Field); n > 0 {
		res.LargeFieldOf(obj).Grow(n)
	}
}
