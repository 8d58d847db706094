// Package certificates makes certificates for clusters in files: those of generated clusters, and
// those that replace the certificates of a user's cluster. Its one rule: the same request gives the
// same bytes, so a certificate and its key can be made again, and neither is ever a secret.
package certificates

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"
)

// Pair is a certificate and its key, in PEM.
type Pair struct{ Certificate, Key []byte }

// SelfSigned returns a certificate with the subject, names, validity and usages of the template,
// signed with its own key. The key is Ed25519, derived from the seed.
func SelfSigned(template *x509.Certificate, seed string) (Pair, error) {
	key := keyOf(seed)
	wanted := wantedOf(template, seed)
	der, err := x509.CreateCertificate(nil, wanted, wanted, key.Public(), key) // Ed25519 needs no randomness
	if err != nil {
		return Pair{}, fmt.Errorf("create a certificate: %w", err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("encode a key: %w", err)
	}
	return Pair{block("CERTIFICATE", der), block("PRIVATE KEY", private)}, nil
}

// Revocations returns an empty revocation list, in PEM, of the authority that SelfSigned returns for
// the template and the seed. The template must be one of an authority.
func Revocations(template *x509.Certificate, seed string, from, until time.Time) ([]byte, error) {
	issuer := wantedOf(template, seed)
	issuer.KeyUsage |= x509.KeyUsageCRLSign
	issuer.SubjectKeyId = issuer.SerialNumber.Bytes()
	list := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: from, NextUpdate: until}
	der, err := x509.CreateRevocationList(nil, list, issuer, keyOf(seed))
	if err != nil {
		return nil, fmt.Errorf("create a revocation list: %w", err)
	}
	return block("X509 CRL", der), nil
}

func keyOf(seed string) ed25519.PrivateKey {
	sum := sha256.Sum256([]byte("key " + seed))
	return ed25519.NewKeyFromSeed(sum[:])
}

// wantedOf copies the parts of the template that a generated certificate keeps. It omits extensions that
// name other certificates, because those do not exist.
func wantedOf(template *x509.Certificate, seed string) *x509.Certificate {
	sum := sha256.Sum256([]byte("serial " + seed))
	sum[0] = sum[0]&0x3f | 0x40 // positive, and always of the same length
	serial := new(big.Int).SetBytes(sum[:12])
	wanted := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               template.Subject,
		DNSNames:              template.DNSNames,
		IPAddresses:           template.IPAddresses,
		EmailAddresses:        template.EmailAddresses,
		URIs:                  template.URIs,
		NotBefore:             template.NotBefore,
		NotAfter:              template.NotAfter,
		KeyUsage:              template.KeyUsage,
		ExtKeyUsage:           template.ExtKeyUsage,
		BasicConstraintsValid: template.BasicConstraintsValid,
		IsCA:                  template.IsCA,
	}
	if wanted.IsCA {
		wanted.SubjectKeyId = serial.Bytes()
	}
	return wanted
}

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
