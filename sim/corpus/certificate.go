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

// Certificates of populations are valid in all of this time, so that the same
// population has the same ones on any day.
var (
	notBefore = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	notAfter  = time.Date(2049, 12, 31, 0, 0, 0, 0, time.UTC)
)

// sslRedirect, set to false, keeps a host with a certificate answering over
// HTTP, too: otherwise ingress-nginx redirects to HTTPS, and probes ask over HTTP.
const sslRedirect = "nginx.ingress.kubernetes.io/ssl-redirect"

// SecretName is the name of the Secret with the ingress's certificate.
func (i Ingress) SecretName() string { return i.Name + "-tls" }

// Serial is the serial number, in hexadecimal, of a host's certificate of an
// issue: the first is 1. No two certificates of a cluster have the same.
func Serial(host string, issue int) string { return serial(host, issue).Text(16) }

// serial is the 64 bits that the host gives, and the issue in the next 32.
func serial(host string, issue int) *big.Int {
	sum := sha256.Sum256([]byte(host))
	sum[0] = sum[0]&0x3f | 0x40 // of one length, and positive
	number := new(big.Int).SetBytes(sum[:8])
	return number.Lsh(number, 32).Add(number, big.NewInt(int64(issue)))
}

// Secret is the Secret with the certificate of an ingress's host, of an issue
// from 1. The key is Ed25519, of which the same seed makes the same signature.
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
	// Ed25519 draws nothing.
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

// secure gives an ingress's object the certificate.
func (i Ingress) secure(object *networkingv1.Ingress) {
	object.Spec.TLS = []networkingv1.IngressTLS{{Hosts: []string{i.Host}, SecretName: i.SecretName()}}
	if object.Annotations == nil {
		object.Annotations = map[string]string{}
	}
	if _, said := object.Annotations[sslRedirect]; !said {
		object.Annotations[sslRedirect] = "false"
	}
}
