package kubeapi

import (
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// metadataOf returns obj's ObjectMeta, to read or write.
func metadataOf(obj runtime.Object) *metav1.ObjectMeta {
	return obj.(metav1.ObjectMetaAccessor).GetObjectMeta().(*metav1.ObjectMeta)
}

// statusOf returns obj's Status field; it is invalid for kinds without one.
func statusOf(obj runtime.Object) reflect.Value {
	return reflect.ValueOf(obj).Elem().FieldByName("Status")
}

// setStatus gives obj the status of from.
func setStatus(obj, from runtime.Object) {
	if c, ok := obj.(*customObject); ok {
		c.setStatus(from.(*customObject))
		return
	}
	statusOf(obj).Set(statusOf(from))
}

func clearStatus(obj runtime.Object) {
	if c, ok := obj.(*customObject); ok {
		delete(c.content, "status")
		return
	}
	if s := statusOf(obj); s.IsValid() {
		s.SetZero()
	}
}
