package model

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
)

// bind keeps clients at a pod if the ingress of a path asks for it. Whether
// and how is the oldest such ingress's to say; the cookie is as the newest
// describes it, and set where any of them has a path.
func (b *builder) bind(backend *Backend, ingress *networkingv1.Ingress, path rulePath) {
	wanted := b.annotations(ingress).Affinity
	if wanted.Type == "" {
		return
	}
	affinity := &backend.SessionAffinity
	if affinity.Type == "" {
		affinity.Type, affinity.Mode, affinity.CanaryBehavior = wanted.Type, wanted.Mode, wanted.CanaryBehavior
		affinity.Locations = make(map[string][]string)
	}
	affinity.Cookie = wanted.Cookie
	if !slices.Contains(affinity.Locations[path.host], path.Path) {
		affinity.Locations[path.host] = append(affinity.Locations[path.host], path.Path)
	}
}
