// Package tls makes and reads certificates. It stands between PEM files and
// those who serve them. Its one rule: it touches no file; callers read and write.
package tls

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// FakeCertificate is a new self-signed certificate and its RSA key as PEM, for
// hosts that have no certificate: nobody should trust it, and its names say
// so. They are ingress-nginx's. It is valid for 365 days from now.
func FakeCertificate() ([]byte, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("making the fake certificate's key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 128))
	if err != nil {
		return nil, fmt.Errorf("making the fake certificate's serial number: %w", err)
	}
	now := time.Now()
	certificate := &x509.Certificate{
		SerialNumber: serial,
		Subject: pkix.Name{
			Organization: []string{"Acme Co"},
			CommonName:   "Kubernetes Ingress Controller Fake Certificate",
		},
		NotBefore:             now,
		NotAfter:              now.AddDate(0, 0, 365),
		KeyUsage:              x509.KeyUsageKeyEncipherment | x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		DNSNames:              []string{"ingress.local"},
	}
	der, err := x509.CreateCertificate(rand.Reader, certificate, certificate, &key.PublicKey, key)
	if err != nil {
		return nil, fmt.Errorf("signing the fake certificate: %w", err)
	}
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return append(text, pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})...), nil
}

// SHA is the hex SHA-1 of the first certificate in a PEM text, by which
// ingress-nginx tells certificates apart.
func SHA(text []byte) (string, error) {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			sum := sha1.Sum(block.Bytes)
			return hex.EncodeToString(sum[:]), nil
		}
	}
	return "", errors.New("no certificate in PEM text")
}
