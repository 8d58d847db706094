package watch

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/annotations"
)

// secretRule selects changes of the data of Secrets that are in use.
func (s *Store) secretRule() rule[corev1.Secret] {
	return rule[corev1.Secret]{
		created: s.names,
		updated: func(old, new *corev1.Secret) bool {
			return (old.UID != new.UID || !equality.Semantic.DeepEqual(old.Data, new.Data)) && s.names(new)
		},
		deleted: s.names,
	}
}

// names reports whether a flag, the controller's ConfigMap or an accepted ingress refers to a
// Secret, or the configuration uses it: an earlier version of an ingress may refer to a different
// Secret.
func (s *Store) names(secret *corev1.Secret) bool {
	name := types.NamespacedName{Namespace: secret.Namespace, Name: secret.Name}
	if name == s.options.DefaultCertificate || s.configNames(name) || s.options.ReadsSecret != nil && s.options.ReadsSecret(name) {
		return true
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	for _, ingress := range s.accepted {
		if ingressNames(ingress, name) {
			return true
		}
	}
	return false
}

// configNames reports whether the ConfigMap takes the Diffie-Hellman group from a Secret.
func (s *Store) configNames(name types.NamespacedName) bool {
	for _, own := range s.options.ConfigMaps {
		if config := s.ConfigMap(own); config != nil && config.Data["ssl-dh-param"] == name.String() {
			return true
		}
	}
	return false
}

// ingressNames reports whether an ingress names a Secret. It accepts annotations with any prefix,
// because an unnecessary sync is harmless.
func ingressNames(ingress *networkingv1.Ingress, name types.NamespacedName) bool {
	if ingress.Namespace == name.Namespace {
		for _, tls := range ingress.Spec.TLS {
			if tls.SecretName == name.Name {
				return true
			}
		}
	}
	for key, value := range ingress.Annotations {
		if annotations.NamesSecret(key) && absolute(value, ingress.Namespace) == name.String() {
			return true
		}
	}
	return false
}

// absolute adds the default namespace to a Secret's name that has none.
func absolute(value, namespace string) string {
	value = strings.TrimSpace(value)
	if strings.Contains(value, "/") {
		return value
	}
	return namespace + "/" + value
}
