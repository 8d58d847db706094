package model

import (
	"slices"

	networkingv1 "k8s.io/api/networking/v1"
)

// addCanaries makes the backends of canaries alternatives of the backends of other ingresses'
// locations. If a canary matches no such location, its backend is left out.
func (b *builder) addCanaries() {
	used := make(map[string]bool)
	for _, ingress := range b.Ingresses {
		if !b.isCanary(ingress) {
			continue
		}
		if wanted := ingress.Spec.DefaultBackend; wanted != nil && wanted.Service != nil && !b.isNameTaken(ingress, wanted.Service) {
			everything := b.servers[DefaultServerName].Locations
			b.addCanary(ingress, "spec.defaultBackend", backendName(ingress.Namespace, wanted.Service), everything, used)
		}
		for path := range paths(ingress) {
			if path.Backend.Service != nil && !b.isNameTaken(ingress, path.Backend.Service) {
				b.addCanary(ingress, path.key, backendName(ingress.Namespace, path.Backend.Service), b.locationsOf(path), used)
			}
		}
	}
	for name, backend := range b.backends {
		if backend.NoServer && !used[name] {
			delete(b.backends, name)
		}
	}
}

// locationsOf returns the location of another ingress that a canary's path matches, or none.
func (b *builder) locationsOf(path rulePath) []*Location {
	server := b.servers[path.host]
	if server == nil {
		return nil
	}
	i := server.find(path.Path, *path.PathType)
	if i < 0 {
		return nil
	}
	return server.Locations[i : i+1]
}

func (b *builder) addCanary(ingress *networkingv1.Ingress, key, canary string, locations []*Location, used map[string]bool) {
	matched := false
	for _, location := range locations {
		primary := b.backends[location.Backend]
		if primary.Name == canary || primary.Name == DefaultBackendName {
			continue
		}
		matched = true
		used[canary] = true
		if slices.Contains(primary.AlternativeBackends, canary) {
			continue
		}
		primary.AlternativeBackends = append(primary.AlternativeBackends, canary)
		if len(primary.AlternativeBackends) > 1 {
			b.find(ingress, key, "%s already has the canary %s; this one gets none of its requests", primary.Name, primary.AlternativeBackends[0])
		}
		if backend := b.backends[canary]; backend.NoServer && b.annotations(ingress).Affinity.CanaryBehavior != "legacy" {
			backend.SessionAffinity = primary.SessionAffinity
		}
	}
	if !matched {
		b.find(ingress, key, "no other ingress routes the same host, path and path type to another service; this canary gets no requests")
	}
}
