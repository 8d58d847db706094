// Package certs creates the certificates of a server and its clients. It stands between the
// server's TLS configuration and crypto/x509. Its one rule: client certificates stay valid when the
// serving certificate or its CA is replaced.
package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"slices"
	"sync"
)

// Identity is the serving certificate of a server, and the CA of its clients.
type Identity struct {
	Clients   *authority // signs client certificates; a rotation does not change it
	addresses []net.IP   // beyond loopback

	mu      sync.Mutex
	ca      *authority
	serving *tls.Certificate
	files   []string // with the CA's certificate
}

func New(addresses ...net.IP) (*Identity, error) {
	ca, err := newAuthority()
	if err != nil {
		return nil, err
	}
	serving, err := ca.serving(addresses...)
	if err != nil {
		return nil, err
	}
	return &Identity{Clients: ca, addresses: addresses, ca: ca, serving: serving}, nil
}

// Config returns the TLS configuration. It looks up the certificate at every handshake. It asks for
// a client certificate but does not verify it: the server answers 401 instead of closing the
// connection.
func (i *Identity) Config() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
		ClientAuth: tls.RequestClientCert,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			i.mu.Lock()
			defer i.mu.Unlock()
			return i.serving, nil
		},
	}
}

func (i *Identity) CA() []byte {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.ca.pem
}

// Trusts reports whether this server issued a client's certificate.
func (i *Identity) Trusts(cert *x509.Certificate) bool {
	roots := x509.NewCertPool()
	roots.AddCert(i.Clients.cert)
	_, err := cert.Verify(x509.VerifyOptions{Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}})
	return err == nil
}

// Rotate creates a new serving certificate and, with newCA, also a new CA. restore brings the old
// certificate back.
func (i *Identity) Rotate(newCA bool) (restore func(), err error) {
	i.mu.Lock()
	oldCA, oldServing := i.ca, i.serving
	i.mu.Unlock()
	ca := oldCA
	if newCA {
		if ca, err = newAuthority(); err != nil {
			return nil, err
		}
	}
	serving, err := ca.serving(i.addresses...)
	if err != nil {
		return nil, err
	}
	return func() { i.show(oldCA, oldServing) }, i.show(ca, serving)
}

func (i *Identity) show(ca *authority, serving *tls.Certificate) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.ca, i.serving = ca, serving
	var errs []error
	for _, path := range i.files {
		errs = append(errs, i.write(path))
	}
	return errors.Join(errs...)
}

// KeepCA writes the CA's certificate to a file, and again when it changes: clients may read it again.
func (i *Identity) KeepCA(path string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !slices.Contains(i.files, path) {
		i.files = append(i.files, path)
	}
	return i.write(path)
}

func (i *Identity) write(path string) error { return os.WriteFile(path, i.ca.pem, 0o644) }
