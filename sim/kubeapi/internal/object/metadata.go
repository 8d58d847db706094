// Package object reads and changes Kubernetes objects without knowing their kind: their metadata,
// their status, the content of custom objects, and their protobuf bytes. It stands between the Go
// types of Kubernetes and all packages that handle objects of any kind. Its one rule: it knows only
// objects, not resources, requests or storage.
package object

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// WithoutKind removes the kind and apiVersion that field managers set; stored objects have none.
func WithoutKind(obj runtime.Object) runtime.Object {
	obj.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return obj
}

// Meta returns the ObjectMeta of obj, for reading and writing.
func Meta(obj runtime.Object) *metav1.ObjectMeta {
	return obj.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta)
}

// StatusOf returns obj's Status field; it is invalid for kinds without one.
func StatusOf(obj runtime.Object) reflect.Value {
	return reflect.ValueOf(obj).Elem().FieldByName("Status")
}

// SetStatus sets the status of obj to that of from.
func SetStatus(obj, from runtime.Object) {
	if c, ok := obj.(*Custom); ok {
		c.setStatus(from.(*Custom))
		return
	}
	StatusOf(obj).Set(StatusOf(from))
}

// ClearStatus removes the status of obj.
func ClearStatus(obj runtime.Object) {
	if c, ok := obj.(*Custom); ok {
		delete(c.Content, "status")
		return
	}
	if s := StatusOf(obj); s.IsValid() {
		s.SetZero()
	}
}
