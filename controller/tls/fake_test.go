package tls_test

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	ours "windtunnel.dev/controller/tls"
)

func TestFakeCertificateIsAPairWithTheNamesOfIngressNginx(t *testing.T) {
	pem, err := ours.FakeCertificate()
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(pem, pem)
	if err != nil {
		t.Fatalf("certificate and key do not fit: %v", err)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	if got, want := leaf.Subject.CommonName, "Kubernetes Ingress Controller Fake Certificate"; got != want {
		t.Errorf("common name %q, want %q", got, want)
	}
	if err := leaf.VerifyHostname("ingress.local"); err != nil {
		t.Error(err)
	}
	if got := leaf.NotAfter.Sub(leaf.NotBefore); got != 365*24*time.Hour {
		t.Errorf("valid for %v, want 365 days", got)
	}
}

func TestSHAIsOfTheCertificateAlone(t *testing.T) {
	pem, err := ours.FakeCertificate()
	if err != nil {
		t.Fatal(err)
	}
	first, err := ours.SHA(pem)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := ours.SHA(append(pem, pem...)); again != first {
		t.Errorf("SHA of the first certificate changed: %s, then %s", first, again)
	}
	other, err := ours.FakeCertificate()
	if err != nil {
		t.Fatal(err)
	}
	if sha, _ := ours.SHA(other); sha == first {
		t.Error("two certificates have one SHA")
	}
	if _, err := ours.SHA([]byte("no PEM")); err == nil {
		t.Error("no error for text without a certificate")
	}
}
