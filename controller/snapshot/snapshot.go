// Package snapshot holds the cluster at one moment, as values. It stands
// between watch, which follows the cluster, and model, which reads nothing
// else. Its one rule: a snapshot is never written to; the objects in it belong
// to the informers' stores.
package snapshot

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Snapshot is the cluster at one moment: what this controller may look at.
type Snapshot struct {
	// Ingresses are the accepted ones, oldest first; those of one age by
	// namespace/name descending, as ingress-nginx orders them.
	Ingresses      []*networkingv1.Ingress
	Services       map[types.NamespacedName]*corev1.Service
	EndpointSlices EndpointSlices
	Secrets        map[types.NamespacedName]*corev1.Secret
	ConfigMaps     map[types.NamespacedName]*corev1.ConfigMap

	// Refused are the newest versions that are not accepted, by name.
	Refused []Refusal
	// Closed are those of Ingresses that are answered with 503, fully or in part. The
	// key is a copy of the object made for this purpose.
	Closed map[*networkingv1.Ingress]Closure

	moment // of a Ledger
}

// Source lists what the cluster holds, in any order. Informers' stores and a
// folder of YAML files are sources.
type Source interface {
	Ingresses() []*networkingv1.Ingress // accepted ones only
	Services() []*corev1.Service
	EndpointSlices() []*discoveryv1.EndpointSlice
	Secrets() []*corev1.Secret
	ConfigMaps() []*corev1.ConfigMap
}
