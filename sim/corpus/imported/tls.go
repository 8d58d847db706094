package imported

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// judgeTLS checks whether clients get a certificate of the cluster for a host with TLS.
func (c *cluster) judgeTLS(h *host) {
	if !h.tls {
		return
	}
	for _, ingress := range c.ingresses {
		section := secures(ingress, h.pattern)
		if section == nil || !claims(ingress.Spec.Rules, h.pattern) || c.unserved(ingress) != "" {
			continue
		}
		h.why = cmp.Or(h.why, c.uncertified(key{Namespace: ingress.Namespace, Name: section.SecretName}, h.asked))
	}
}

// uncertified returns why a Secret has no certificate for a host, or "" if it has one.
func (c *cluster) uncertified(at key, host string) string {
	secret := c.secrets[at]
	if at.Name == "" || secret == nil {
		return "a path of a host with TLS, but without a certificate"
	}
	pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	if err != nil {
		return "a path of a host whose certificate and key cannot be used"
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil || leaf.VerifyHostname(host) != nil {
		return "a path of a host whose certificate is for others"
	}
	return ""
}

// claims reports whether one of the rules is for a host.
func claims(rules []networkingv1.IngressRule, pattern string) bool {
	return slices.ContainsFunc(rules, func(rule networkingv1.IngressRule) bool { return strings.ToLower(rule.Host) == pattern })
}
