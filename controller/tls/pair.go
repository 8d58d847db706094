package tls

import (
	"bytes"
	"crypto/sha1"
	cryptotls "crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Pair is a certificate chain with its key that nginx can serve.
type Pair struct {
	PEM   string // the chain, a line break, and the key: ingress-nginx's form
	SHA   string // hex SHA-1 of the first certificate, by which ingress-nginx distinguishes certificates
	Leaf  *x509.Certificate
	Names []string // the certificate's hosts, including its common name; sorted, without duplicates
	Chain []*x509.Certificate
}

// ReadPair reads the contents of a Secret of type kubernetes.io/tls. The error begins with the
// Secret key that is wrong.
func ReadPair(certificate, key []byte) (*Pair, error) {
	chain, err := certificates(certificate)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", CertificateKey, err)
	}
	if err := checkKey(key); err != nil {
		return nil, fmt.Errorf("%s: %w", PrivateKey, err)
	}
	if _, err := cryptotls.X509KeyPair(certificate, key); err != nil {
		return nil, fmt.Errorf("%s and %s: %s", CertificateKey, PrivateKey, plain(err))
	}
	leaf := chain[0]
	sum := sha1.Sum(leaf.Raw)
	return &Pair{
		PEM:   string(bytes.Join([][]byte{certificate, key}, []byte("\n"))),
		SHA:   hex.EncodeToString(sum[:]),
		Leaf:  leaf,
		Names: names(leaf),
		Chain: chain,
	}, nil
}

// Covers returns an error if the certificate is not valid for host. The common name counts only if
// the certificate has no other names, as before RFC 6125.
func (p *Pair) Covers(host string) error {
	err := p.Leaf.VerifyHostname(host)
	if err == nil {
		return nil
	}
	if len(p.Leaf.DNSNames) == 0 && matches(p.Leaf.Subject.CommonName, host) {
		return nil
	}
	return fmt.Errorf("the certificate is for %s", strings.Join(p.Names, ", "))
}

// Expires returns the time after which clients reject the certificate.
func (p *Pair) Expires() time.Time { return p.Leaf.NotAfter }

// matches compares a common name with a host as crypto/x509 compares alternative names: a wildcard
// matches the first label.
func matches(pattern, host string) bool {
	pattern, host = strings.ToLower(pattern), strings.ToLower(host)
	if pattern == "" || host == "" {
		return false
	}
	if domain, wild := strings.CutPrefix(pattern, "*."); wild {
		_, rest, found := strings.Cut(host, ".")
		return found && rest == domain
	}
	return pattern == host
}

func names(leaf *x509.Certificate) []string {
	all := slices.Clone(leaf.DNSNames)
	for _, address := range leaf.IPAddresses {
		all = append(all, address.String())
	}
	if leaf.Subject.CommonName != "" {
		all = append(all, leaf.Subject.CommonName)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
