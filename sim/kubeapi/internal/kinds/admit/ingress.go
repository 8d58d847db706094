// Package admit implements admission plugins of kube-apiserver for new objects. It stands
// between a decoded request and the mutating webhooks. Its one rule: a plugin changes or refuses
// one object, and reads others only through resource.Cluster.
package admit

import (
	"cmp"
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"windtunnel.dev/sim/kubeapi/internal/resource"
)

const oldClassAnnotation = "kubernetes.io/ingress.class"

// Ingress gives an Ingress without a class the default IngressClass (plugin DefaultIngressClass).
// If several classes are defaults, it is the newest one, and of these the first by name.
func Ingress(obj runtime.Object, in resource.Cluster) error {
	ing := obj.(*networkingv1.Ingress)
	if _, old := ing.Annotations[oldClassAnnotation]; old || ing.Spec.IngressClassName != nil {
		return nil
	}
	var defaults []*networkingv1.IngressClass
	for _, obj := range in.Objects("networking.k8s.io", "ingressclasses") {
		if class := obj.(*networkingv1.IngressClass); class.Annotations[networkingv1.AnnotationIsDefaultIngressClass] == "true" {
			defaults = append(defaults, class)
		}
	}
	if len(defaults) == 0 {
		return nil
	}
	newest := slices.MinFunc(defaults, func(a, b *networkingv1.IngressClass) int {
		return cmp.Or(b.CreationTimestamp.Compare(a.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	ing.Spec.IngressClassName = &newest.Name
	return nil
}
