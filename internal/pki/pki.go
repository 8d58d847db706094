// Package pki creates certificates for tests. Its one rule: only tests trust its certificates.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"time"
)

// Authority signs certificates.
type Authority struct {
	Certificate *x509.Certificate
	PEM         []byte
	key         *ecdsa.PrivateKey
}

// Pair is a certificate and its key as PEM.
type Pair struct{ Certificate, Key []byte }

// Both returns the certificate followed by the key.
func (p Pair) Both() []byte { return append(append([]byte{}, p.Certificate...), p.Key...) }

// New returns a self-signed authority.
func New(name string) *Authority { return (*Authority)(nil).Authority(name) }

// Authority returns an intermediate authority signed by a, or a self-signed one if a is nil. The
// changes are applied to its certificate before it is signed.
func (a *Authority) Authority(name string, changes ...func(*x509.Certificate)) *Authority {
	key := newKey()
	template := blank(name)
	template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign
	template.SubjectKeyId = must(rand.Prime(rand.Reader, 64)).Bytes()
	der := a.sign(template, key, changes)
	return &Authority{Certificate: must(x509.ParseCertificate(der)), PEM: block("CERTIFICATE", der), key: key}
}

// Issue returns a certificate for servers and clients, with name as its common name and hosts as
// its DNS names. The changes are applied to it before it is signed.
func (a *Authority) Issue(name string, hosts []string, changes ...func(*x509.Certificate)) Pair {
	key := newKey()
	template := blank(name)
	template.DNSNames = hosts
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der := a.sign(template, key, changes)
	return Pair{block("CERTIFICATE", der), block("PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(key)))}
}

// Revoke returns a revocation list of a, as PEM, that contains the given certificates.
func (a *Authority) Revoke(pairs ...Pair) []byte {
	now := time.Now()
	list := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: now.Add(-time.Hour), NextUpdate: now.AddDate(1, 0, 0)}
	for _, pair := range pairs {
		der, _ := pem.Decode(pair.Certificate)
		list.RevokedCertificateEntries = append(list.RevokedCertificateEntries, x509.RevocationListEntry{
			SerialNumber: must(x509.ParseCertificate(der.Bytes)).SerialNumber, RevocationTime: now.Add(-time.Hour),
		})
	}
	return block("X509 CRL", must(x509.CreateRevocationList(rand.Reader, list, a.Certificate, a.key)))
}

func (a *Authority) sign(template *x509.Certificate, key *ecdsa.PrivateKey, changes []func(*x509.Certificate)) []byte {
	for _, change := range changes {
		change(template)
	}
	if a == nil {
		return must(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))
	}
	return must(x509.CreateCertificate(rand.Reader, template, a.Certificate, &key.PublicKey, a.key))
}

// blank returns a certificate template that is valid from an hour ago for a hundred years, so that
// a certificate can be stored in a golden file.
func blank(name string) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{
		SerialNumber:          must(rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))),
		Subject:               pkix.Name{CommonName: name},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.AddDate(100, 0, 0),
		BasicConstraintsValid: true,
	}
}

func newKey() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) }

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// must panics on errors that only a defect of the test can cause.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
