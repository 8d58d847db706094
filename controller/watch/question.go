package watch

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// Inspect is --deep-inspect, if it is on, for an ingress that is not there yet.
func (s *Store) Inspect(ingress *networkingv1.Ingress) error {
	if !s.options.DeepInspect {
		return nil
	}
	return Inspect(ingress)
}

// Serves says whether an ingress, which need not be there yet, is of a class
// and a namespace that this controller serves.
func (s *Store) Serves(ingress *networkingv1.Ingress) bool {
	inside := s.options.Namespace == corev1.NamespaceAll || s.options.Namespace == ingress.Namespace
	return inside && s.followsNamespace(ingress.Namespace) && s.ours(ingress)
}
