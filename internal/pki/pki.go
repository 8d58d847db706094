// Package pki makes certificates for tests. It stands between a test and
// crypto/x509. Its one rule: what it makes is for nobody's trust but the test's.
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

// Both is the two in one text.
func (p Pair) Both() []byte { return append(append([]byte{}, p.Certificate...), p.Key...) }

// New returns an authority that signed itself.
func New(name string) *Authority { return (*Authority)(nil).Authority(name) }

// Authority returns an authority below a; below nil it is signed by itself.
func (a *Authority) Authority(name string, changes ...func(*x509.Certificate)) *Authority {
	key := newKey()
	template := blank(name)
	template.IsCA, template.KeyUsage = true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign
	template.SubjectKeyId = must(rand.Prime(rand.Reader, 64)).Bytes()
	der := a.sign(template, key, changes)
	return &Authority{Certificate: must(x509.ParseCertificate(der)), PEM: block("CERTIFICATE", der), key: key}
}

// Issue signs a certificate, for servers and clients, with that common name
// and these hosts. Changes are made to it before it is signed.
func (a *Authority) Issue(name string, hosts []string, changes ...func(*x509.Certificate)) Pair {
	key := newKey()
	template := blank(name)
	template.DNSNames = hosts
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	der := a.sign(template, key, changes)
	return Pair{block("CERTIFICATE", der), block("PRIVATE KEY", must(x509.MarshalPKCS8PrivateKey(key)))}
}

// Revoke returns a's list of revoked certificates, as PEM: these.
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

// blank is valid from an hour ago and for a long time, so that a certificate
// can be kept in a golden file.
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

// must is for what fails only by a defect of the test.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
