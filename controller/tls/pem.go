package tls

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"iter"
	"strings"
)

// certificates returns the certificates in a PEM text, or an error if there are none.
func certificates(text []byte) ([]*x509.Certificate, error) {
	return readAll(text, "CERTIFICATE", "certificate", x509.ParseCertificate)
}

// revocations returns the revocation lists in a PEM text, or an error if there are none.
func revocations(text []byte) ([]*x509.RevocationList, error) {
	return readAll(text, "X509 CRL", "revocation list", x509.ParseRevocationList)
}

func readAll[T any](text []byte, kind, what string, parse func([]byte) (T, error)) ([]T, error) {
	var all []T
	for block, err := range blocks(text) {
		if err != nil {
			return nil, err
		}
		if block.Type != kind {
			continue // like OpenSSL: the text may also contain the key
		}
		one, err := parse(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("%s %d cannot be read: %s", what, len(all)+1, plain(err))
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no PEM block %s", kind)
	}
	return all, nil
}

// checkKey returns an error if a text does not contain a private key that nginx can use.
func checkKey(text []byte) error {
	for block, err := range blocks(text) {
		switch {
		case err != nil:
			return err
		case block.Type == "ENCRYPTED PRIVATE KEY" || strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED"):
			return errors.New("the key is encrypted, and there is no passphrase for it")
		case block.Type == "PRIVATE KEY" || strings.HasSuffix(block.Type, " PRIVATE KEY"):
			return nil
		}
	}
	return errors.New("no PEM block PRIVATE KEY")
}

// blocks returns the PEM blocks of a text. A damaged block is an error, because OpenSSL, which
// nginx uses, stops there; Go would skip it.
func blocks(text []byte) iter.Seq2[*pem.Block, error] {
	return func(yield func(*pem.Block, error) bool) {
		begun, found := strings.Count(string(text), "-----BEGIN "), 0
		for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
			found++
			if !yield(block, nil) {
				return
			}
		}
		if found < begun {
			yield(nil, fmt.Errorf("of %d PEM blocks %d cannot be read", begun, begun-found))
		}
	}
}

// plain returns the text of an error without the prefix of its package.
func plain(err error) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), "tls: "), "x509: ")
}
