package kinds

import (
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

// Find returns the row of a built-in resource, or nil if it does not exist.
func Find(gv schema.GroupVersion, name string) *resource.Resource {
	return BuiltIn.Find(gv, name)
}

// fieldsOf and the functions below adapt a function for one Go type to the signature that a row needs.
func fieldsOf[T runtime.Object](f func(T) fields.Set) func(runtime.Object) fields.Set {
	return func(obj runtime.Object) fields.Set { return f(obj.(T)) }
}

func defaultsOf[T runtime.Object](f func(obj, old T)) func(obj, old runtime.Object) {
	return func(obj, old runtime.Object) {
		before, _ := old.(T) // the zero T, nil, on create
		f(obj.(T), before)
	}
}

func decodedOf[T runtime.Object](f func(T)) func(runtime.Object) {
	return func(obj runtime.Object) { f(obj.(T)) }
}

func prepareOf[T runtime.Object](f func(obj, old T, in resource.Cluster)) func(obj, old runtime.Object, in resource.Cluster) {
	return func(obj, old runtime.Object, in resource.Cluster) {
		before, _ := old.(T)
		f(obj.(T), before, in)
	}
}

func validationOf[T runtime.Object](f func(obj, old T, in resource.Cluster) field.ErrorList) func(obj, old runtime.Object, in resource.Cluster) field.ErrorList {
	return func(obj, old runtime.Object, in resource.Cluster) field.ErrorList {
		before, _ := old.(T)
		return f(obj.(T), before, in)
	}
}
