package chain

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
)

const (
	longestChain       = 5        // certificates to fetch
	largestCertificate = 64 << 10 // bytes
)

// fetch returns the certificates between last and a root, both excluded, as PEM.
func fetch(ctx context.Context, client *http.Client, last *x509.Certificate) ([]byte, error) {
	var text bytes.Buffer
	for range longestChain {
		issuer, err := issuerOf(ctx, client, last)
		if err != nil {
			return nil, err
		}
		if isRoot(issuer) {
			return text.Bytes(), nil
		}
		pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: issuer.Raw}) // to memory: never fails
		if len(issuer.IssuingCertificateURL) == 0 {
			return text.Bytes(), nil // assume that clients have its issuer
		}
		last = issuer
	}
	return nil, fmt.Errorf("no root after %d certificates", longestChain)
}

// issuerOf fetches the certificate of the issuer that signed another one.
func issuerOf(ctx context.Context, client *http.Client, certificate *x509.Certificate) (*x509.Certificate, error) {
	var all []error
	for _, url := range certificate.IssuingCertificateURL {
		issuer, err := get(ctx, client, url)
		if err == nil {
			err = certificate.CheckSignatureFrom(issuer)
		}
		if err == nil {
			return issuer, nil
		}
		all = append(all, fmt.Errorf("the issuer at %s: %w", url, err))
	}
	return nil, errors.Join(all...)
}

// get fetches a certificate. It should be DER (RFC 5280, 4.2.2.1), but some authorities send PEM.
func get(ctx context.Context, client *http.Client, url string) (*x509.Certificate, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, errors.New(response.Status)
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, largestCertificate))
	if err != nil {
		return nil, err
	}
	if block, _ := pem.Decode(content); block != nil {
		content = block.Bytes
	}
	return x509.ParseCertificate(content)
}
