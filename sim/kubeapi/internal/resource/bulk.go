package resource

import (
	"reflect"

	"google.golang.org/protobuf/encoding/protowire"
	"k8s.io/apimachinery/pkg/runtime"
)

// Bulk is the field that makes a kind's objects large. No rule of such a kind looks at
// it in an old object or writes to it in a new one, and the kind has no
// status; so a write need neither decode the old one nor copy the new one.
type Bulk struct {
	Field protowire.Number
	Name  string
}

// CopyOf returns a deep copy of obj, but for the bulk, which it shares.
func (res *Resource) CopyOf(obj runtime.Object) runtime.Object {
	if res.Bulk.Field == 0 {
		return obj.DeepCopyObject()
	}
	from := reflect.ValueOf(obj).Elem()
	light := reflect.New(from.Type())
	light.Elem().Set(from)
	light.Elem().FieldByName(res.Bulk.Name).SetZero()
	copied := light.Interface().(runtime.Object).DeepCopyObject()
	reflect.ValueOf(copied).Elem().FieldByName(res.Bulk.Name).Set(from.FieldByName(res.Bulk.Name))
	return copied
}
