package model

import (
	"crypto/x509"
	"strings"
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/types"

	"windtunnel.dev/controller/tls"
)

// SSLCert is a certificate with its key.
type SSLCert struct {
	Namespace, Name string // of its Secret; empty: it is the controller's own
	UID             string // of that; Lua knows the certificate by it
	PemFileName     string // empty: it is only sent to Lua
	PemSHA          string // hex SHA-1 of the certificate
	PemCertKey      string // certificate chain, and key
	CN              []string
	ExpireTime      time.Time
	Certificate     *x509.Certificate

	covers func(host string) error
}

// Covers tells whether the certificate has the host among its names; no
// certificate has.
func (c *SSLCert) Covers(host string) bool {
	return c != nil && c.covers != nil && c.covers(host) == nil
}

// The paths and the UID that ingress-nginx gives.
const (
	sslFolder       = "/etc/ingress-controller/ssl/"
	fakeCertificate = sslFolder + "default-fake-certificate.pem"
	fakeUID         = "00000000-0000-0000-0000-000000000000"
)

// addDefaultCertificate chooses what hosts without a certificate are served
// with: that of the flag's Secret, or else the one that the controller made.
func (b *builder) addDefaultCertificate() {
	b.defaultCertificate = SSLCert{PemFileName: b.options.Path(fakeCertificate), UID: fakeUID}
	if pair := b.options.DefaultCertificate; pair != nil {
		b.defaultCertificate.take(pair)
	}
	if name := b.options.DefaultSSLCertificate; name.Name != "" {
		secret, err := b.secretWithPair(name, b.options.Config.SSLCiphers)
		if err != nil {
			b.findSecret(name, "it is to be the default certificate: %v; the controller's own is served", err)
		} else {
			b.defaultCertificate = secret.certificate()
			b.defaultCertificate.PemFileName = b.options.Path(sslFolder + fileName("", name))
		}
	}
	b.files[b.defaultCertificate.PemFileName] = []byte(b.defaultCertificate.PemCertKey)
	b.servers[DefaultServerName].SSLCert = &b.defaultCertificate
}

// addCertificates gives each host the certificate that its oldest ingress with
// a tls section asks for. A host whose ingresses have none has no certificate.
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

// certificateOf is the certificate of a host: that of the first entry that
// lists it, else of the first whose certificate is one of the host, else, and
// where that cannot be had, the default one.
func (b *builder) certificateOf(ingress *networkingv1.Ingress, host string) *SSLCert {
	i, listed := entryOf(ingress.Spec.TLS, host)
	if !listed {
		i = b.entryCovering(ingress, host)
	}
	if i < 0 {
		b.find(ingress, "spec.tls", "no entry is for %s; it is served with the default certificate", host)
		return &b.defaultCertificate
	}
	name := ingress.Spec.TLS[i].SecretName
	if name == "" {
		return &b.defaultCertificate // asked for
	}
	secret, err := b.secretWithPair(types.NamespacedName{Namespace: ingress.Namespace, Name: name}, b.options.Config.SSLCiphers)
	if err == nil {
		err = secret.Pair.Covers(host)
	}
	if err != nil {
		b.find(ingress, tlsKey(i), "Secret %s: %v; %s is served with the default certificate", name, err, host)
		return &b.defaultCertificate
	}
	certificate := secret.certificate()
	return &certificate
}

// entryOf is the first entry that lists a host.
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

// entryCovering is the first entry whose certificate is one of a host, -1 if
// there is none.
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

// certified gives hosts that only redirect the certificate of the host that
// they redirect to, if it is one of theirs, too.
func (b *builder) certified(redirects []Redirect) []Redirect {
	for i, redirect := range redirects {
		if certificate := b.servers[redirect.To].SSLCert; certificate.Covers(redirect.From) {
			redirects[i].SSLCert = certificate
		}
	}
	return redirects
}
