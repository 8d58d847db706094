package snapshot

import (
	"cmp"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Take returns a snapshot of the current objects of a source.
func Take(source Source) Snapshot {
	return Snapshot{
		Ingresses:      OldestFirst(source.Ingresses()),
		Services:       byName(source.Services()),
		EndpointSlices: byService(source.EndpointSlices()),
		Secrets:        byName(source.Secrets()),
		ConfigMaps:     byName(source.ConfigMaps()),
	}
}

// NameOf returns the namespace and name of an object.
func NameOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// OldestFirst returns ingresses in the order of Snapshot.Ingresses.
func OldestFirst(ingresses []*networkingv1.Ingress) []*networkingv1.Ingress {
	return slices.SortedFunc(slices.Values(ingresses), func(a, b *networkingv1.Ingress) int {
		if age := a.CreationTimestamp.Compare(b.CreationTimestamp.Time); age != 0 {
			return age
		}
		return cmp.Compare(NameOf(b).String(), NameOf(a).String())
	})
}

func byName[T metav1.Object](objects []T) map[types.NamespacedName]T {
	named := make(map[types.NamespacedName]T, len(objects))
	for _, object := range objects {
		named[NameOf(object)] = object
	}
	return named
}
