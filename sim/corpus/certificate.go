package corpus

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Certificates of populations are valid for all of this time, so that a population has the same
// certificates on every day.
var (
	notBefore = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	notAfter  = time.Date(2049, 12, 31, 0, 0, 0, 0, time.UTC)
)

// sslRedirect is set to false so that hosts with a certificate also answer over HTTP. Otherwise
// ingress-nginx redirects to HTTPS, but probes use HTTP.
const sslRedirect = "nginx.ingress.kubernetes.io/ssl-redirect"

// SecretName returns the name of the Secret with the ingress's certificate.
func (i Ingress) SecretName() string { return i.Name + "-tls" }

// Serial returns the serial number, in hexadecimal, of a certificate of a host. Issues count from
// 1. No two certificates of a cluster have the same serial number.
func Serial(host string, issue int) string { return serial(host, issue).Text(16) }

// serial returns 64 bits from a hash of the host, followed by 32 bits with the issue.
func serial(host string, issue int) *big.Int {
	sum := sha256.Sum256([]byte(host))
	sum[0] = sum[0]&0x3f | 0x40 // positive, and always of the same length
	number := new(big.Int).SetBytes(sum[:8])
	return number.Lsh(number, 32).Add(number, big.NewInt(int64(issue)))
}

// Secret returns the Secret with a certificate for an ingress's host. Issues count from 1. The key
// is Ed25519, with which the same seed gives the same signature.
func (p Population) Secret(i Ingress, issue int) *corev1.Secret {
	seed := sha256.Sum256(fmt.Appendf(nil, "%s/%d", i.Host, issue))
	key := ed25519.NewKeyFromSeed(seed[:])
	template := &x509.Certificate{
		SerialNumber: serial(i.Host, issue),
		Subject:      pkix.Name{CommonName: i.Host},
		DNSNames:     []string{i.Host},
		NotBefore:    notBefore,
		NotAfter:     notAfter,
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	// Ed25519 needs no randomness.
	certificate, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
	if err != nil {
		panic(fmt.Sprintf("corpus: the certificate of %s: %v", i.Host, err))
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		panic(fmt.Sprintf("corpus: the key of %s: %v", i.Host, err))
	}
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: metav1.ObjectMeta{Namespace: p.Namespace, Name: i.SecretName()},
		Type:       corev1.SecretTypeTLS,
		Data: map[string][]byte{
			corev1.TLSCertKey:       pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}),
			corev1.TLSPrivateKeyKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}),
		},
	}
}

// secure adds the certificate to an ingress's object.
func (i Ingress) secure(object *networkingv1.Ingress) {
	object.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{i.Host}, SecretName: i.SecretName()}}
	if object.Annotations == nil {
		object.Annotations = map[string]string{}
	}
	if _, set := object.Annotations[sslRedirect]; !set {
		object.Annotations[sslRedirect] = "false"
	}
}
