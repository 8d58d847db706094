package tls

import (
	"crypto/rsa"
	"crypto/x509"
	"fmt"
)

// leastBits is the shortest RSA key or Diffie-Hellman group that OpenSSL takes
// at its default security level, 2.
const leastBits = 2048

// Weak says why OpenSSL would not take the chain at its default security level:
// a short RSA key, or a signature by MD5 or SHA-1. Of a certificate that signed
// itself, the signature does not count.
func (p *Pair) Weak() error {
	for i, certificate := range p.Chain {
		if key, ok := certificate.PublicKey.(*rsa.PublicKey); ok && key.N.BitLen() < leastBits {
			return fmt.Errorf("%s: certificate %d has an RSA key of %d bits, and OpenSSL takes no less than %d", CertificateKey, i+1, key.N.BitLen(), leastBits)
		}
		if weakSignatures[certificate.SignatureAlgorithm] && string(certificate.RawIssuer) != string(certificate.RawSubject) {
			return fmt.Errorf("%s: certificate %d is signed by %v, which OpenSSL does not take", CertificateKey, i+1, certificate.SignatureAlgorithm)
		}
	}
	return nil
}

var weakSignatures = map[x509.SignatureAlgorithm]bool{
	x509.MD2WithRSA: true, x509.MD5WithRSA: true, x509.SHA1WithRSA: true, x509.DSAWithSHA1: true, x509.ECDSAWithSHA1: true,
}
