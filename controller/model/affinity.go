package model

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
)

// addAffinity configures session affinity of a backend if the ingress of a path enables it. The
// oldest such ingress determines the type and mode; the newest determines the cookie. The cookie is
// set on the paths of all such ingresses, for the host and its aliases.
func (b *builder) addAffinity(backend *Backend, ingress *networkingv1.Ingress, path rulePath) {
	wanted := b.annotations(ingress).Affinity
	if wanted.Type == "" || backend.Name == DefaultBackendName {
		return
	}
	affinity := &backend.SessionAffinity
	if affinity.Type == "" {
		affinity.Type, affinity.Mode, affinity.CanaryBehavior = wanted.Type, wanted.Mode, wanted.CanaryBehavior
		affinity.Locations = make(map[string][]string)
	}
	affinity.Cookie = wanted.Cookie
	for _, host := range append([]string{path.host}, b.servers[path.host].Aliases...) {
		if !slices.Contains(affinity.Locations[host], path.Path) {
			affinity.Locations[host] = append(affinity.Locations[host], path.Path)
		}
	}
}
