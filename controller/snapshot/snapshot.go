// Package snapshot represents the cluster at one moment as values. It stands between watch, which
// follows the cluster, and model, which reads nothing else. Its one rule: a snapshot is never
// modified; its objects belong to the informers' stores.
package snapshot

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Snapshot is the part of the cluster that this controller may see, at one moment.
type Snapshot struct {
	// Ingresses are the accepted ones, oldest first. As in ingress-nginx, ingresses of the same age
	// are sorted by descending namespace/name.
	Ingresses      []*networkingv1.Ingress
	Services       map[types.NamespacedName]*corev1.Service
	EndpointSlices EndpointSlices
	Secrets        map[types.NamespacedName]*corev1.Secret
	ConfigMaps     map[types.NamespacedName]*corev1.ConfigMap

	// Rejected are the newest versions of ingresses that are not accepted, sorted by name.
	Rejected []Rejection
	// Closed are the members of Ingresses whose requests, or some of them, get 503. Each key is a
	// copy of the object, made for this purpose.
	Closed map[*networkingv1.Ingress]Closure

	moment // set by a Ledger
}

// SameIngresses reports whether two lists are equal. It is fast if both are the same slice;
// snapshots of a Ledger share it if no ingress changed.
func SameIngresses(a, b []*networkingv1.Ingress) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

// Source lists the objects of a cluster in any order. The informers' stores and Manifests are
// sources.
type Source interface {
	Ingresses() []*networkingv1.Ingress // accepted ones only
	Services() []*corev1.Service
	EndpointSlices() []*discoveryv1.EndpointSlice
	Secrets() []*corev1.Secret
	ConfigMaps() []*corev1.ConfigMap
}
