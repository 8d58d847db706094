package watch

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
)

// secretRule: only Secrets that are referenced, and only their data.
func (s *Store) secretRule() rule[corev1.Secret] {
	return rule[corev1.Secret]{
		created: s.names,
		updated: func(old, new *corev1.Secret) bool {
			return (old.UID != new.UID || !equality.Semantic.DeepEqual(old.Data, new.Data)) && s.names(new)
		},
		deleted: s.names,
	}
}

// names says whether a flag, the controller's ConfigMap or an accepted ingress
// names the Secret, or the configuration was made of it: an earlier version of an
// ingress may name another one.
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

// configNames says whether the Diffie-Hellman group is to come from a Secret.
func (s *Store) configNames(name types.NamespacedName) bool {
	for _, own := range s.options.ConfigMaps {
		if config := s.ConfigMap(own); config != nil && config.Data["ssl-dh-param"] == name.String() {
			return true
		}
	}
	return false
}

// secretAnnotations name Secrets. Whatever stands before the slash counts: the
// prefix is a flag's to say, and a sync too many does no harm.
var secretAnnotations = []string{"/auth-secret", "/auth-tls-secret", "/proxy-ssl-secret"}

func ingressNames(ingress *networkingv1.Ingress, name types.NamespacedName) bool {
	if ingress.Namespace == name.Namespace {
		for _, tls := range ingress.Spec.TLS {
			if tls.SecretName == name.Name {
				return true
			}
		}
	}
	for key, value := range ingress.Annotations {
		for _, suffix := range secretAnnotations {
			if strings.HasSuffix(key, suffix) && absolute(value, ingress.Namespace) == name.String() {
				return true
			}
		}
	}
	return false
}

func absolute(value, namespace string) string {
	value = strings.TrimSpace(value)
	if strings.Contains(value, "/") {
		return value
	}
	return namespace + "/" + value
}
