package certificates_test

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"testing"
	"time"

	"windtunnel.dev/sim/corpus/certificates"
)

var template = &x509.Certificate{
	Subject: pkix.Name{CommonName: "shop.example"}, DNSNames: []string{"shop.example"},
	NotBefore: time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2034, 1, 1, 0, 0, 0, 0, time.UTC),
}

func TestSameSeedSamePair(t *testing.T) {
	first, second, other := signed(t, template, "a"), signed(t, template, "a"), signed(t, template, "b")
	if !bytes.Equal(first.Certificate, second.Certificate) || !bytes.Equal(first.Key, second.Key) {
		t.Error("two pairs of one seed differ")
	}
	if bytes.Equal(first.Key, other.Key) {
		t.Error("different seeds give the same pair")
	}
	if _, err := tls.X509KeyPair(first.Certificate, first.Key); err != nil {
		t.Error(err)
	}
	if _, err := tls.X509KeyPair(first.Certificate, other.Key); err == nil {
		t.Error("the key of another seed belongs to the certificate")
	}
}

func signed(t *testing.T, template *x509.Certificate, seed string) certificates.Pair {
	t.Helper()
	pair, err := certificates.SelfSigned(template, seed)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

// The revocation list is signed by the authority with the same template and seed.
func TestRevocationsAreOfTheirAuthority(t *testing.T) {
	authority := *template
	authority.IsCA, authority.BasicConstraintsValid, authority.KeyUsage = true, true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign
	text, err := certificates.Revocations(&authority, "a", template.NotBefore, template.NotAfter)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	list, err := x509.ParseRevocationList(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	for seed, want := range map[string]bool{"a": true, "b": false} {
		block, _ := pem.Decode(signed(t, &authority, seed).Certificate)
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		if got := list.CheckSignatureFrom(certificate) == nil; got != want {
			t.Errorf("seed %s: the signature fits: %v, want %v", seed, got, want)
		}
	}
}
