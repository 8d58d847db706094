package model

import (
	"crypto/x509"
	"strings"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/tls"
)

// SSLCert is a certificate with its private key.
type SSLCert struct {
	Namespace, Name string // of its Secret; empty for the controller's own
	UID             string // of the Secret; it identifies the certificate in Lua
	PemFileName     string // empty if the certificate is only sent to Lua
	PemSHA          string // hex SHA-1 of the certificate
	PemCertKey      string // certificate chain and key
	CN              []string
	ExpireTime      time.Time
	Certificate     *x509.Certificate

	covers func(host string) error
}

// Covers reports whether the host is one of the certificate's names. It returns false for a nil
// certificate.
func (c *SSLCert) Covers(host string) bool {
	return c != nil && c.covers != nil && c.covers(host) == nil
}

// same reports whether two certificates are equal for nginx and its users.
func (c *SSLCert) same(other SSLCert) bool {
	return c != nil && c.Namespace == other.Namespace && c.Name == other.Name && c.UID == other.UID &&
		c.PemFileName == other.PemFileName && c.PemCertKey == other.PemCertKey
}

// These paths and this UID are ingress-nginx's.
const (
	sslFolder       = "/etc/ingress-controller/ssl/"
	fakeCertificate = sslFolder + "default-fake-certificate.pem"
	fakeUID         = "00000000-0000-0000-0000-000000000000"
)

// addDefaultCertificate chooses the certificate for hosts without their own: that of the Secret in
// --default-ssl-certificate, otherwise the one that the controller generated.
func (b *builder) addDefaultCertificate() {
	certificate := SSLCert{PemFileName: b.options.Path(fakeCertificate), UID: fakeUID}
	if pair := b.options.DefaultCertificate; pair != nil {
		certificate.take(pair)
	}
	if name := b.options.DefaultSSLCertificate; name.Name != "" {
		secret, err := b.secretWithPair(name, b.options.Config.SSLCiphers)
		if err != nil {
			b.findSecret(name, "it cannot be the default certificate: %v; the controller's own is used", err)
		} else {
			certificate = secret.certificate()
			certificate.PemFileName = b.options.Path(sslFolder + fileName("", name))
		}
	}
	b.files[certificate.PemFileName] = []byte(certificate.PemCertKey)
	b.common.defaultCertificate = &certificate
	if b.defaultCertificate.same(certificate) {
		b.common.defaultCertificate = b.defaultCertificate
	}
	b.servers[DefaultServerName].SSLCert = b.common.defaultCertificate
}

// addCertificates assigns certificates to hosts. The oldest ingress of a host that has a tls
// section decides. A host without such an ingress gets none.
func (b *builder) addCertificates() {
	for _, ingress := range b.Ingresses {
		if len(ingress.Spec.TLS) == 0 || b.isCanary(ingress) {
			continue
		}
		for _, rule := range ingress.Spec.Rules {
			server := b.servers[rule.Host]
			if rule.Host == "" || server == nil || server.SSLCert != nil {
				continue
			}
			server.SSLCert = b.certificateOf(ingress, rule.Host)
		}
	}
}

// certificateOf returns the certificate of a host: that of the first entry that lists the host,
// otherwise of the first entry whose certificate covers it. It returns the default certificate if
// there is no such entry or its certificate cannot be used.
func (b *builder) certificateOf(ingress *networkingv1.Ingress, host string) *SSLCert {
	i, listed := entryOf(ingress.Spec.TLS, host)
	if !listed {
		i = b.entryCovering(ingress, host)
	}
	if i < 0 {
		b.find(ingress, "spec.tls", "no entry lists %s or has a certificate for it; it is served with the default certificate", host)
		return b.common.defaultCertificate
	}
	name := ingress.Spec.TLS[i].SecretName
	if name == "" {
		return b.common.defaultCertificate // the entry asks for it
	}
	secret, err := b.secretWithPair(types.NamespacedName{Namespace: ingress.Namespace, Name: name}, b.options.Config.SSLCiphers)
	if err == nil {
		err = secret.Pair.Covers(host)
	}
	if err != nil {
		b.find(ingress, tlsKey(i), "Secret %s: %v; %s is served with the default certificate", name, err, host)
		return b.common.defaultCertificate
	}
	certificate := secret.certificate()
	return &certificate
}

// entryOf returns the index of the first entry that lists a host.
func entryOf(entries []networkingv1.IngressTLS, host string) (int, bool) {
	for i, entry := range entries {
		for _, listed := range entry.Hosts {
			if strings.EqualFold(listed, host) {
				return i, true
			}
		}
	}
	return -1, false
}

// entryCovering returns the index of the first entry whose certificate covers a host, or -1.
func (b *builder) entryCovering(ingress *networkingv1.Ingress, host string) int {
	for i, entry := range ingress.Spec.TLS {
		secret, err := b.secret(types.NamespacedName{Namespace: ingress.Namespace, Name: entry.SecretName})
		if err == nil && secret.Pair != nil && secret.Pair.Covers(host) == nil {
			return i
		}
	}
	return -1
}

func (c *SSLCert) take(pair *tls.Pair) {
	c.PemSHA, c.PemCertKey, c.CN = pair.SHA, pair.PEM, pair.Names
	c.ExpireTime, c.Certificate, c.covers = pair.Expires(), pair.Leaf, pair.Covers
}

// certified adds certificates to hosts that only redirect: that of the target host, if it also
// covers the redirected one.
func (b *builder) certified(redirects []Redirect) []Redirect {
	for i, redirect := range redirects {
		if certificate := b.servers[redirect.To].SSLCert; certificate.Covers(redirect.From) {
			redirects[i].SSLCert = certificate
		}
	}
	return redirects
}
