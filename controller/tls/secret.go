package tls

import (
	"crypto/sha1"
	"encoding/asn1"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// The Secret keys that the controller reads.
const (
	CertificateKey = corev1.TLSCertKey       // tls.crt
	PrivateKey     = corev1.TLSPrivateKeyKey // tls.key
	AuthorityKey   = "ca.crt"                // certificates of authorities that must have issued the peer's certificate
	RevocationKey  = "ca.crl"                // revoked certificates of those authorities
	DHParamKey     = "dhparam.pem"           // a Diffie-Hellman group
	PasswordsKey   = "auth"                  // names and hashed passwords
)

// Authority is a PEM text with certificates of trusted authorities, or with revocation lists.
type Authority struct {
	PEM []byte
	SHA string // hex SHA-1 of PEM
}

// Contents are the TLS parts of a Secret. A part is nil if the Secret does not have it or it has a
// problem.
type Contents struct {
	Pair        *Pair
	CA          *Authority
	Revocations *Authority // lists of revoked certificates
	Problems    []error    // each begins with the key in the Secret
}

// Read reads a Secret. A problem with one part does not affect the others.
func Read(secret *corev1.Secret) Contents {
	var read Contents
	data := secret.Data
	note := func(err error) {
		if err != nil {
			read.Problems = append(read.Problems, err)
		}
	}
	certificate, key := data[CertificateKey], data[PrivateKey]
	switch {
	case len(certificate) > 0 && len(key) > 0:
		var err error
		read.Pair, err = ReadPair(certificate, key)
		note(err)
	case len(certificate) > 0:
		note(fmt.Errorf("%s is missing, and %s is useless without it", PrivateKey, CertificateKey))
	case len(key) > 0:
		note(fmt.Errorf("%s is missing, and %s is useless without it", CertificateKey, PrivateKey))
	}
	if text := data[AuthorityKey]; len(text) > 0 {
		_, err := certificates(text)
		read.CA = authority(text, err)
		note(about(AuthorityKey, err))
	}
	if text := data[RevocationKey]; len(text) > 0 {
		_, err := revocations(text)
		read.Revocations = authority(text, err)
		note(about(RevocationKey, err))
	}
	return read
}

// Err returns all problems as one error; nil if there are none.
func (c Contents) Err() error { return errors.Join(c.Problems...) }

func about(key string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", key, err)
}

func authority(text []byte, err error) *Authority {
	if err != nil {
		return nil
	}
	sum := sha1.Sum(text)
	return &Authority{PEM: text, SHA: hex.EncodeToString(sum[:])}
}

// CheckDHParam returns an error if nginx would reject a Diffie-Hellman group in PEM form.
func CheckDHParam(text []byte) error {
	for block, err := range blocks(text) {
		switch {
		case err != nil:
			return about(DHParamKey, err)
		case strings.HasSuffix(block.Type, "DH PARAMETERS"): // also X9.42 DH PARAMETERS
			return about(DHParamKey, checkGroup(block.Bytes))
		}
	}
	return fmt.Errorf("%s: no PEM block DH PARAMETERS", DHParamKey)
}

// checkGroup checks the fields with which both the PKCS #3 and X9.42 structures begin.
func checkGroup(der []byte) error {
	var group struct{ Prime, Generator *big.Int }
	if _, err := asn1.Unmarshal(der, &group); err != nil {
		return fmt.Errorf("the group cannot be read: %w", err)
	}
	if bits := group.Prime.BitLen(); bits < leastBits {
		return fmt.Errorf("the group has %d bits, and OpenSSL requires at least %d", bits, leastBits)
	}
	return nil
}
