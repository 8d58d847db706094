package tls

import (
	"crypto/rsa"
	"crypto/x509"
	"fmt"
)

// leastBits is the length of the shortest RSA key or Diffie-Hellman group that OpenSSL accepts at
// its default security level, 2.
const leastBits = 2048

// Weak returns an error if OpenSSL would reject the chain at its default security level, because of
// a short RSA key or a signature with MD2, MD5 or SHA-1. It ignores the signature of a self-signed
// certificate.
func (p *Pair) Weak() error {
	for i, certificate := range p.Chain {
		if key, ok := certificate.PublicKey.(*rsa.PublicKey); ok && key.N.BitLen() < leastBits {
			return fmt.Errorf("%s: certificate %d has an RSA key of %d bits, and OpenSSL requires at least %d", CertificateKey, i+1, key.N.BitLen(), leastBits)
		}
		if weakSignatures[certificate.SignatureAlgorithm] && string(certificate.RawIssuer) != string(certificate.RawSubject) {
			return fmt.Errorf("%s: certificate %d is signed with %v, which OpenSSL rejects", CertificateKey, i+1, certificate.SignatureAlgorithm)
		}
	}
	return nil
}

var weakSignatures = map[x509.SignatureAlgorithm]bool{
	x509.MD2WithRSA: true, x509.MD5WithRSA: true, x509.SHA1WithRSA: true, x509.DSAWithSHA1: true, x509.ECDSAWithSHA1: true,
}
