package ownership

import (
	"maps"
	"reflect"

	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"

	"windtunnel.dev/sim/kubeapi/internal/object"
	"windtunnel.dev/sim/kubeapi/internal/resource"
	"windtunnel.dev/sim/kubeapi/internal/store"
)

// sameFieldSet reports whether two states of an object of res set the same fields outside of its
// large field, even if the values differ. It may return false for equal fields: the only lists that
// it examines are those that are known to have one owner as a whole.
func sameFieldSet(res *resource.Resource, a, b runtime.Object) bool {
	return sameKeys(object.Meta(a), object.Meta(b)) && sameStruct(reflect.ValueOf(a).Elem(), reflect.ValueOf(b).Elem(), res.LargeField.Name)
}

// sameLargeField reports whether base and next both have the large field, or neither has. It has
// one owner as a whole. An empty list is never the same, because base is stored without empty lists.
func sameLargeField(base *store.Object, next runtime.Object) bool {
	is := base.Resource.LargeFieldOf(next)
	if !is.IsValid() {
		return true
	}
	_, first, _ := object.Cut(base.Raw, base.Resource.LargeField.Field)
	if first == nil {
		return is.IsNil()
	}
	return is.Len() > 0
}

// sameKeys compares the metadata that a client owns.
func sameKeys(a, b *metav1.ObjectMeta) bool {
	return sameMapKeys(a.Labels, b.Labels) && sameMapKeys(a.Annotations, b.Annotations) &&
		equality.Semantic.DeepEqual(a.Finalizers, b.Finalizers) && equality.Semantic.DeepEqual(a.OwnerReferences, b.OwnerReferences)
}

func sameMapKeys(a, b map[string]string) bool {
	return len(a) == len(b) && maps.EqualFunc(a, b, func(string, string) bool { return true })
}

// notCompared lists the parts of an object that are compared elsewhere, or have no owner.
var notCompared = map[string]bool{"TypeMeta": true, "ObjectMeta": true, "Status": true}

func sameStruct(a, b reflect.Value, skip string) bool {
	t := a.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			return equality.Semantic.DeepEqual(a.Interface(), b.Interface())
		}
		if !notCompared[f.Name] && f.Name != skip && !sameValue(a.Field(i), b.Field(i)) {
			return false
		}
	}
	return true
}

// leaves lists the structs that have one owner as a whole.
var leaves = map[reflect.Type]bool{
	reflect.TypeFor[metav1.Time]():        true,
	reflect.TypeFor[metav1.MicroTime]():   true,
	reflect.TypeFor[intstr.IntOrString](): true,
}

// atomicLists lists the types that have one owner as a whole, whatever they contain.
var atomicLists = map[reflect.Type]bool{
	reflect.TypeFor[[]byte]():                     true,
	reflect.TypeFor[[]discoveryv1.EndpointPort](): true,
	reflect.TypeFor[[]networkingv1.IngressRule](): true,
	reflect.TypeFor[[]networkingv1.IngressTLS]():  true,
}

func sameValue(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() || b.IsNil() || a.Elem().Kind() != reflect.Struct || leaves[a.Type().Elem()] {
			return a.IsNil() == b.IsNil()
		}
		return sameStruct(a.Elem(), b.Elem(), "")
	case reflect.Struct:
		if leaves[a.Type()] {
			break
		}
		return sameStruct(a, b, "")
	case reflect.Interface:
		return equality.Semantic.DeepEqual(a.Interface(), b.Interface())
	case reflect.Slice:
		if atomicLists[a.Type()] {
			return sameList(a, b)
		}
		return a.IsNil() == b.IsNil() && equality.Semantic.DeepEqual(a.Interface(), b.Interface())
	case reflect.Map:
		return sameEntries(a, b)
	}
	return a.IsZero() == b.IsZero()
}

// sameList reports whether two lists are both absent, both empty, or both filled: an empty list has an
// owner, an absent one has none. It is true for two zero Values.
func sameList(a, b reflect.Value) bool {
	if !a.IsValid() {
		return true
	}
	return a.IsNil() == b.IsNil() && (a.Len() == 0) == (b.Len() == 0)
}

func sameEntries(a, b reflect.Value) bool {
	if kind := a.Type().Elem().Kind(); kind != reflect.String && kind != reflect.Slice {
		return equality.Semantic.DeepEqual(a.Interface(), b.Interface())
	}
	if a.Len() != b.Len() {
		return false
	}
	for entries := a.MapRange(); entries.Next(); {
		if !b.MapIndex(entries.Key()).IsValid() {
			return false
		}
	}
	return true
}
