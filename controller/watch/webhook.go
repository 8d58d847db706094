package watch

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// Inspect implements --deep-inspect. It accepts all ingresses if the flag is off.
func (s *Store) Inspect(ingress *networkingv1.Ingress) error {
	if !s.options.DeepInspect {
		return nil
	}
	return Inspect(ingress)
}

// Serves reports whether this controller serves the class and namespace of an ingress, which need
// not be stored yet.
func (s *Store) Serves(ingress *networkingv1.Ingress) bool {
	inside := s.options.Namespace == corev1.NamespaceAll || s.options.Namespace == ingress.Namespace
	return inside && s.followsNamespace(ingress.Namespace) && s.ours(ingress)
}
