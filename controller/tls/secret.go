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

// The keys of a Secret that mean something here.
const (
	CertificateKey = corev1.TLSCertKey       // tls.crt
	PrivateKey     = corev1.TLSPrivateKeyKey // tls.key
	AuthorityKey   = "ca.crt"                // who signs the other side's certificates
	RevocationKey  = "ca.crl"                // which of those hold no more
	DHParamKey     = "dhparam.pem"           // a Diffie-Hellman group
	PasswordsKey   = "auth"                  // names and hashed passwords
)

// Authority is whose signatures on the other side's certificates are believed.
type Authority struct {
	PEM []byte
	SHA string // hex SHA-1 of PEM
}

// Contents is what a Secret holds for TLS. A part is nil when the Secret does
// not have it, or when there is a problem with it.
type Contents struct {
	Pair        *Pair
	CA          *Authority
	Revocations *Authority // lists of revoked certificates
	Problems    []error    // each says which key and why
}

// Read reads a Secret. What is wrong with one part leaves the others.
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
		note(fmt.Errorf("%s is missing, and %s is nothing without it", PrivateKey, CertificateKey))
	case len(key) > 0:
		note(fmt.Errorf("%s is missing, and %s is nothing without it", CertificateKey, PrivateKey))
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

// Err is all problems as one, or nil.
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

// CheckDHParam says what keeps nginx from taking a Diffie-Hellman group in PEM
// form.
func CheckDHParam(text []byte) error {
	for block, err := range blocks(text) {
		switch {
		case err != nil:
			return about(DHParamKey, err)
		case strings.HasSuffix(block.Type, "DH PARAMETERS"): // or X9.42 before it
			return about(DHParamKey, checkGroup(block.Bytes))
		}
	}
	return fmt.Errorf("%s: no PEM block DH PARAMETERS", DHParamKey)
}

// checkGroup reads the beginning that PKCS #3's DHParameter and that of X9.42
// have in common.
func checkGroup(der []byte) error {
	var group struct{ Prime, Generator *big.Int }
	if _, err := asn1.Unmarshal(der, &group); err != nil {
		return fmt.Errorf("the group cannot be read: %w", err)
	}
	if bits := group.Prime.BitLen(); bits < leastBits {
		return fmt.Errorf("the group has %d bits, and OpenSSL takes no less than %d", bits, leastBits)
	}
	return nil
}
