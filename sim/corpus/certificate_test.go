package corpus

import (
	"bytes"
	"crypto/tls"
	"net/netip"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
)

// Every host has its own certificate, with the serial number that Serial returns. The same shape
// gives the same certificates, bit for bit.
func TestCertificates(t *testing.T) {
	p := Generate(Shape{Namespace: "demo", Services: 3, Pods: 1, Ingresses: 5, TLS: true, Annotations: map[string]string{"a": "b"}})
	serials := map[string]bool{}
	for _, ingress := range p.Ingresses {
		for issue := 1; issue <= 2; issue++ {
			secret := p.Secret(ingress, issue)
			pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
			if err != nil {
				t.Fatal(err)
			}
			if err := pair.Leaf.VerifyHostname(ingress.Host); err != nil {
				t.Error(err)
			}
			serial := pair.Leaf.SerialNumber.Text(16)
			if serial != Serial(ingress.Host, issue) || serials[serial] {
				t.Errorf("%s, issue %d: serial %s, want %s, once", ingress.Host, issue, serial, Serial(ingress.Host, issue))
			}
			serials[serial] = true
			if again := p.Secret(ingress, issue); !bytes.Equal(again.Data[corev1.TLSCertKey], secret.Data[corev1.TLSCertKey]) {
				t.Error("a second call gave another certificate")
			}
		}
	}
	secrets, secured := 0, 0
	for _, object := range p.Objects(func(string) netip.Addr { return netip.MustParseAddr("127.0.0.1") }) {
		switch object := object.(type) {
		case *corev1.Secret:
			secrets++
		case *networkingv1.Ingress:
			if len(object.Spec.TLS) == 1 && object.Spec.TLS[0].SecretName == object.Name+"-tls" && object.Annotations["a"] == "b" && object.Annotations[sslRedirect] == "false" {
				secured++
			}
		}
	}
	if secrets != 5 || secured != 5 {
		t.Errorf("%d secrets and %d ingresses with one, of 5", secrets, secured)
	}
}
